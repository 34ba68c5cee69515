package dev.coatcheck.api.server;

import static java.util.Objects.requireNonNull;

import dev.coatcheck.core.observe.Event;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.ids.access.Access;
import dev.coatcheck.ids.access.AccessDecision;
import dev.coatcheck.ids.access.Caller;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.postgres.sql.Deadline;
import io.javalin.config.RoutesConfig;
import io.javalin.http.Context;
import io.javalin.http.Handler;
import io.javalin.http.HandlerType;
import io.javalin.router.Endpoint;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/** Where routes are registered: each says what it needs, and passes admission and access first. */
public final class Endpoints {
  private static final String CALLER = "caller";
  private static final String STANDING = "standing";

  private final RoutesConfig routes;
  private final Access access;
  private final Admission admission;
  private final Problems problems;
  private final Observer observer;

  Endpoints(
      RoutesConfig routes,
      Access access,
      Admission admission,
      Problems problems,
      Observer observer) {
    this.routes = routes;
    this.access = access;
    this.admission = admission;
    this.problems = problems;
    this.observer = observer;
  }

  /** For those who hold an API key with the scope. */
  public void secured(HandlerType method, String path, Scope scope, Handler handler) {
    open(
        method,
        path,
        ctx -> {
          Optional<String> authorization = Optional.ofNullable(ctx.header("Authorization"));
          switch (access.decide(authorization, scope)) {
            case AccessDecision.Granted(Caller caller) -> {
              ctx.attribute(CALLER, caller);
              BooleanSupplier standing =
                  () -> access.decide(authorization, scope) instanceof AccessDecision.Granted;
              ctx.attribute(STANDING, standing);
              handler.handle(ctx);
            }
            case AccessDecision.Unauthenticated _ ->
                problems.write(
                    ctx,
                    Problem.of(
                        ProblemCode.UNAUTHENTICATED,
                        "Send Authorization: Bearer with a valid API key."));
            case AccessDecision.Forbidden forbidden ->
                problems.write(
                    ctx,
                    Problem.of(
                        ProblemCode.FORBIDDEN,
                        "The key lacks the scope " + forbidden.missing().name() + "."));
          }
        });
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
    routes.addEndpoint(Endpoint.create(method, path).handler(ctx -> admit(ctx, path, handler)));
  }

  /** For operations: answers even when the gateway is full. */
  public void always(HandlerType method, String path, Handler handler) {
    routes.addEndpoint(Endpoint.create(method, path).handler(handler));
  }

  private void admit(Context ctx, String path, Handler handler) throws Exception {
    if (!admission.enter()) {
      observer.observe(new Event.RequestShed(path));
      problems.write(
          ctx,
          Problem.retryAfter(
              ProblemCode.OVERLOADED, "Send the request again.", Problems.jitteredSeconds()));
      return;
    }
    try {
      Deadline.ofAnswer().run(() -> handler.handle(ctx));
    } finally {
      admission.leave();
    }
  }
}
