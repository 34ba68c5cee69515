package dev.coatcheck.api.server;

import static java.util.Objects.requireNonNull;

import dev.coatcheck.core.observe.Event;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.ids.access.Access;
import dev.coatcheck.ids.access.AccessDecision;
import dev.coatcheck.ids.access.Caller;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.postgres.connection.Deadline;
import io.javalin.config.RoutesConfig;
import io.javalin.http.Context;
import io.javalin.http.Handler;
import io.javalin.http.HandlerType;
import io.javalin.router.Endpoint;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.regex.Pattern;

/** Where routes are registered: each says what it needs, and passes admission and access first. */
public final class Endpoints {
  private static final String CALLER = "caller";
  private static final String STANDING = "standing";

  private final RoutesConfig routes;
  private final Access access;
  private final Permits permits;
  private final Problems problems;
  private final Observer observer;
  private final List<JsonRoute> jsonRoutes = new ArrayList<>();

  Endpoints(
      RoutesConfig routes, Access access, Permits permits, Problems problems, Observer observer) {
    this.routes = routes;
    this.access = access;
    this.permits = permits;
    this.problems = problems;
    this.observer = observer;
  }

  /**
   * A route that takes a JSON object.
   *
   * @param path as Javalin has it, with {@code {name}} for what varies
   */
  public record JsonRoute(
      HandlerType method, String path, Scope needed, int bytesMax, Pattern pattern) {
    private static final Pattern VARIABLE = Pattern.compile("\\{[^}]+}");

    private JsonRoute(HandlerType method, String path, Scope needed, int bytesMax) {
      this(
          method,
          path,
          needed,
          bytesMax,
          Pattern.compile(VARIABLE.matcher(path).replaceAll("[^/]+")));
    }

    public boolean matches(String requestMethod, String requestPath) {
      return method.name().equals(requestMethod) && pattern.matcher(requestPath).matches();
    }

    public Permits.Share share() {
      return Permits.Share.of(needed);
    }
  }

  /** For those who hold an API key with the scope; takes no body, or reads it as it comes. */
  public void secured(HandlerType method, String path, Scope scope, Handler handler) {
    Permits.Share share = Permits.Share.of(scope);
    routes.addEndpoint(
        Endpoint.create(method, path)
            .handler(
                ctx ->
                    admit(ctx, path, share, permit -> checkAccess(ctx, scope, permit, handler))));
  }

  /** The same with a JSON object as body, which is there before the handler is called. */
  public void json(HandlerType method, String path, Scope scope, int bytesMax, Handler handler) {
    jsonRoutes.add(new JsonRoute(method, path, scope, bytesMax));
    secured(method, path, scope, handler);
  }

  /** All that were registered with a body. */
  public List<JsonRoute> jsonRoutes() {
    return List.copyOf(jsonRoutes);
  }

  private void checkAccess(Context ctx, Scope scope, Permits.Permit permit, Handler handler)
      throws Exception {
    Optional<String> authorization = Optional.ofNullable(ctx.header("Authorization"));
    AccessDecision decision = access.decide(authorization, scope);
    switch (decision) {
      case AccessDecision.Granted(Caller caller) -> {
        if (!permit.claim(caller.keyId())) {
          shed(ctx, ctx.endpoint().path, "This API key has half of all requests under way.");
          return;
        }
        ctx.attribute(CALLER, caller);
        BooleanSupplier standing =
            () -> access.decide(authorization, scope) instanceof AccessDecision.Granted;
        ctx.attribute(STANDING, standing);
        handler.handle(ctx);
      }
      case AccessDecision.Unauthenticated _, AccessDecision.Forbidden _ ->
          problems.write(ctx, refusal(decision));
    }
  }

  /** What a caller without access is told. */
  public static Problem refusal(AccessDecision decision) {
    return switch (decision) {
      case AccessDecision.Granted _ -> throw new IllegalArgumentException("granted");
      case AccessDecision.Unauthenticated _ ->
          Problem.of(
              ProblemCode.UNAUTHENTICATED, "Send Authorization: Bearer with a valid API key.");
      case AccessDecision.Forbidden(Scope missing) ->
          Problem.of(ProblemCode.FORBIDDEN, "The key lacks the scope " + missing.name() + ".");
    };
  }

  /**
   * As {@link #secured}, for a request that lasts as long as its client sends or reads. Access is
   * decided by the usual deadline; what follows has none.
   */
  public void lasting(HandlerType method, String path, Scope scope, Handler handler) {
    secured(method, path, scope, ctx -> Deadline.lasting(() -> handler.handle(ctx)));
  }

  /** Who makes the request, on a route that is {@link #secured}. */
  public static Caller caller(Context ctx) {
    return requireNonNull(ctx.attribute(CALLER));
  }

  /**
   * Whether the caller still may, on a route that is {@link #secured}: for an answer that lasts.
   */
  public static BooleanSupplier standing(Context ctx) {
    return requireNonNull(ctx.attribute(STANDING));
  }

  /** For anyone. */
  public void open(HandlerType method, String path, Handler handler) {
    routes.addEndpoint(
        Endpoint.create(method, path)
            .handler(ctx -> admit(ctx, path, Permits.Share.RESOLVES, _ -> handler.handle(ctx))));
  }

  /** For operations: answers even when the gateway is full. */
  public void always(HandlerType method, String path, Handler handler) {
    routes.addEndpoint(Endpoint.create(method, path).handler(handler));
  }

  private interface Admitted {
    void handle(Permits.Permit permit) throws Exception;
  }

  private void admit(Context ctx, String path, Permits.Share share, Admitted handler)
      throws Exception {
    Optional<Permits.Permit> permit = permits.enter(share);
    if (permit.isEmpty()) {
      shed(ctx, path, "Send the request again.");
      return;
    }
    try (Permits.Permit taken = permit.get()) {
      Deadline.ofAnswer().run(() -> handler.handle(taken));
    }
  }

  private void shed(Context ctx, String path, String detail) {
    observer.observe(new Event.RequestShed(path));
    problems.write(
        ctx, Problem.retryAfter(ProblemCode.OVERLOADED, detail, Problems.jitteredSeconds()));
  }
}
