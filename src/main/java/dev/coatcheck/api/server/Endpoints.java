package dev.coatcheck.api.server;

import dev.coatcheck.api.exchange.Answer;
import dev.coatcheck.api.exchange.Page;
import dev.coatcheck.api.exchange.Problem;
import dev.coatcheck.api.exchange.ProblemCode;
import dev.coatcheck.api.exchange.Query;
import dev.coatcheck.api.exchange.RequestAccess;
import dev.coatcheck.api.exchange.RequestBody;
import dev.coatcheck.api.exchange.RequestCaller;
import dev.coatcheck.api.exchange.RequestQuota;
import dev.coatcheck.core.observe.Event;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.ids.access.AccessDecision;
import dev.coatcheck.ids.access.Caller;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.postgres.connection.Deadline;
import io.javalin.config.RoutesConfig;
import io.javalin.http.Context;
import io.javalin.http.HandlerType;
import io.javalin.router.Endpoint;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * Registers handlers, each with the needs of its requests. Permits, access and limits are checked
 * first.
 */
public final class Endpoints {
  private final RoutesConfig routes;
  private final RequestAccess access;
  private final RateLimits limits;
  private final Permits permits;
  private final Observer observer;
  private final List<JsonRoutes.Route> jsonRoutes = new ArrayList<>();

  Endpoints(
      RoutesConfig routes,
      RequestAccess access,
      RateLimits limits,
      Permits permits,
      Observer observer) {
    this.routes = routes;
    this.access = access;
    this.limits = limits;
    this.permits = permits;
    this.observer = observer;
  }

  /** For callers whose API key has the scope. The handler itself reads a body, if there is one. */
  public void secured(HandlerType method, String path, Scope scope, Handler handler) {
    Permits.Share share = Permits.Share.of(scope);
    register(
        method, path, ctx -> admit(path, share, permit -> secured(ctx, scope, permit, handler)));
  }

  /** Like {@link #secured}, for a write without a body. */
  public void bodiless(HandlerType method, String path, Scope scope, Handler handler) {
    secured(
        method,
        path,
        scope,
        ctx -> {
          RequestBody.none(ctx);
          return handler.answer(ctx);
        });
  }

  /** Answers a request whose body is a JSON object. */
  @FunctionalInterface
  public interface JsonHandler {
    Answer answer(Context ctx, RequestBody body) throws Exception;
  }

  /**
   * Like {@link #secured}, with a JSON object as body, collected before.
   *
   * @param parameters of the query, which the handler reads
   */
  public void json(
      HandlerType method, String path, Scope scope, JsonHandler handler, String... parameters) {
    body(method, path, scope, whole(RequestBody::read, handler, parameters));
  }

  /** Like {@link #json}, by PATCH, with a JSON merge patch. */
  public void mergePatch(String path, Scope scope, JsonHandler handler, String... parameters) {
    body(
        new JsonRoutes.Route(
            HandlerType.PATCH, path, scope, RequestBody.BYTES_MAX, RequestBody.MERGE_PATCH),
        whole(RequestBody::readMergePatch, handler, parameters));
  }

  /** Like {@link #json}; a missing body counts as an empty object. */
  public void optionalJson(
      HandlerType method, String path, Scope scope, JsonHandler handler, String... parameters) {
    body(method, path, scope, whole(RequestBody::readOptional, handler, parameters));
  }

  /** Like {@link #json}, by POST, with a larger body, whose items count as requests. */
  public void batch(String path, Scope scope, JsonHandler handler) {
    batch(path, scope, items(handler));
  }

  /** Like {@link #batch}, with limited concurrency; a batch that waits too long is refused. */
  public void batchInTurn(String path, Scope scope, JsonHandler handler) {
    BatchQueue queue = permits.batches(Permits.Share.of(scope));
    Handler inTurn = items(handler);
    batch(
        path,
        scope,
        ctx -> {
          if (!queue.enter(RequestCaller.of(ctx).caller().chain())) {
            return shed(path, tooManyBatches());
          }
          try {
            return inTurn.answer(ctx);
          } finally {
            queue.leave();
          }
        });
  }

  private void batch(String path, Scope scope, Handler handler) {
    body(
        new JsonRoutes.Route(
            HandlerType.POST, path, scope, RequestBody.BATCH_BYTES_MAX, RequestBody.JSON),
        handler);
  }

  private void body(HandlerType method, String path, Scope scope, Handler handler) {
    body(
        new JsonRoutes.Route(method, path, scope, RequestBody.BYTES_MAX, RequestBody.JSON),
        handler);
  }

  private void body(JsonRoutes.Route route, Handler handler) {
    jsonRoutes.add(route);
    secured(route.method(), route.path(), route.needed().orElseThrow(), handler);
  }

  /** Like {@link #json}, by POST, without an API key. The route states what bounds it. */
  public void openJson(OpenRoute route, JsonHandler handler) {
    JsonRoutes.Route json =
        new JsonRoutes.Route(
            HandlerType.POST,
            route.path(),
            Optional.empty(),
            RequestBody.BYTES_MAX,
            RequestBody.JSON);
    jsonRoutes.add(json);
    Handler whole = whole(RequestBody::read, handler);
    register(
        HandlerType.POST,
        route.path(),
        ctx -> admit(route.path(), json.share(), _ -> whole.answer(ctx)));
  }

  private static Handler items(JsonHandler handler) {
    return whole(
        RequestBody::read,
        (ctx, body) -> {
          RequestQuota.countItems(ctx, body.itemCount());
          return handler.answer(ctx, body);
        });
  }

  private static Handler whole(
      Function<Context, RequestBody> read, JsonHandler handler, String... parameters) {
    return ctx -> {
      Query.of(ctx, parameters);
      return handler.answer(ctx, read.apply(ctx));
    };
  }

  /**
   * Like {@link #secured}, for a request that lasts as long as its client sends or reads. Access is
   * decided within the usual deadline; the handler has no deadline.
   */
  public void lasting(HandlerType method, String path, Scope scope, Handler handler) {
    secured(method, path, scope, ctx -> Deadline.lasting(() -> handler.answer(ctx)));
  }

  /** A GET without an API key. The route states what bounds it. */
  public void open(OpenRoute route, Handler handler) {
    String path = route.path();
    register(
        HandlerType.GET,
        path,
        switch (route.bound()) {
          case PERMITS -> ctx -> admit(path, Permits.Share.RESOLVES, _ -> counted(ctx, handler));
          case SMALL_ANSWER -> handler;
          case SHARED_BUFFER -> throw new IllegalArgumentException(route + " has no handler here");
        });
  }

  /**
   * A page of the console, or one of its forms, collected before, without an API key in the
   * request: the handler decides who may see it.
   */
  public void page(HandlerType method, String path, Handler handler) {
    if (method.equals(HandlerType.POST)) {
      jsonRoutes.add(
          new JsonRoutes.Route(
              method, path, Optional.empty(), RequestBody.FORM_BYTES_MAX, RequestBody.FORM));
    }
    register(
        method,
        path,
        ctx ->
            admit(
                path,
                Permits.Share.OTHERS,
                problem -> page(problem, method.equals(HandlerType.POST)),
                _ -> handler.answer(ctx)));
  }

  /** A problem as a page for people, whose form did nothing. */
  public static Answer page(Problem problem, boolean isForm) {
    return Answer.of(problem)
        .as(
            Page.of(
                "en",
                problem.code().title(),
                (isForm ? "Nothing was changed. " : "") + problem.detail()));
  }

  /** HEAD runs the handler of GET, and Jetty drops the body of the answer. */
  private void register(HandlerType method, String path, Handler handler) {
    add(method, path, handler);
    if (method.equals(HandlerType.GET)) {
      add(HandlerType.HEAD, path, handler);
    }
  }

  private void add(HandlerType method, String path, Handler handler) {
    routes.addEndpoint(Endpoint.create(method, path).handler(ctx -> handler.answer(ctx).send(ctx)));
  }

  public JsonRoutes jsonRoutes() {
    return new JsonRoutes(jsonRoutes);
  }

  /** The answer to a caller without access. */
  public static Problem refusal(AccessDecision.Refused refused) {
    return switch (refused) {
      case AccessDecision.Unauthenticated _ ->
          Problem.of(
              ProblemCode.UNAUTHENTICATED, "Send Authorization: Bearer with a valid API key.");
      case AccessDecision.AddressNotAllowed _ ->
          Problem.of(
              ProblemCode.ADDRESS_NOT_ALLOWED,
              "The API key may not be used from this address. Send the request from one of its"
                  + " ranges.");
      case AccessDecision.Forbidden(Scope missing) -> lacks(missing);
    };
  }

  /** The answer to a caller whose API key lacks a scope. */
  public static Problem lacks(Scope missing) {
    return Problem.of(ProblemCode.FORBIDDEN, "The key lacks the scope " + missing.name() + ".");
  }

  /** The answer if the maximum number of requests is being handled. */
  public static Problem noPermit() {
    return Problem.unavailable(ProblemCode.OVERLOADED, "Send the request again.");
  }

  /** The answer when one API key holds half of all permits. */
  public static Problem keyHoldsHalf() {
    return Problem.unavailable(
        ProblemCode.OVERLOADED, "Half of all requests under way are from this API key.");
  }

  private static Problem tooManyBatches() {
    return Problem.unavailable(
        ProblemCode.OVERLOADED, "More batches come than can be handled. Send the batch again.");
  }

  private interface Admitted {
    Answer answer(Permits.Permit permit) throws Exception;
  }

  private Answer admit(String path, Permits.Share share, Admitted handler) throws Exception {
    return admit(path, share, Answer::of, handler);
  }

  private Answer admit(
      String path, Permits.Share share, Function<Problem, Answer> refused, Admitted handler)
      throws Exception {
    Optional<Permits.Permit> permit = permits.enter(share);
    if (permit.isEmpty()) {
      observer.observe(new Event.RequestShed(path));
      return refused.apply(noPermit());
    }
    try (Permits.Permit taken = permit.get()) {
      return Deadline.ofAnswer().orEarlier().call(() -> handler.answer(taken));
    }
  }

  private Answer counted(Context ctx, Handler handler) throws Exception {
    Optional<Problem> tooMany = limits.countAddress(ctx);
    return tooMany.isPresent() ? Answer.of(tooMany.get()) : handler.answer(ctx);
  }

  private Answer secured(Context ctx, Scope scope, Permits.Permit permit, Handler handler)
      throws Exception {
    return switch (access.decide(ctx, scope)) {
      case AccessDecision.Granted(Caller caller) -> {
        Optional<Problem> tooMany = limits.count(ctx, caller);
        if (tooMany.isPresent()) {
          yield Answer.of(tooMany.get());
        }
        if (!permit.claim(caller.chain())) {
          yield shed(ctx.endpoint().path, keyHoldsHalf());
        }
        new RequestCaller(
                caller,
                () ->
                    access.decide(ctx, scope) instanceof AccessDecision.Granted(Caller then)
                        ? Optional.of(then)
                        : Optional.empty(),
                () -> access.address(ctx))
            .keep(ctx);
        yield handler.answer(ctx);
      }
      case AccessDecision.Refused refused ->
          Answer.of(limits.countAddress(ctx).orElseGet(() -> refusal(refused)));
    };
  }

  private Answer shed(String path, Problem problem) {
    observer.observe(new Event.RequestShed(path));
    return Answer.of(problem);
  }
}
