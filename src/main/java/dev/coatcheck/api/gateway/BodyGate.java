package dev.coatcheck.api.gateway;

import dev.coatcheck.api.server.Answer;
import dev.coatcheck.api.server.Endpoints;
import dev.coatcheck.api.server.Permits;
import dev.coatcheck.api.server.Problem;
import dev.coatcheck.api.server.ProblemCode;
import dev.coatcheck.api.server.Problems;
import dev.coatcheck.api.server.RequestBody;
import dev.coatcheck.api.server.RequestId;
import dev.coatcheck.core.observe.Event;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.ids.access.Access;
import dev.coatcheck.ids.access.AccessDecision;
import dev.coatcheck.ids.access.Caller;
import dev.coatcheck.postgres.connection.Deadline;
import java.io.EOFException;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.eclipse.jetty.http.HttpField;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.thread.Scheduler;
import org.jspecify.annotations.Nullable;

/**
 * Collects bodies before the routes see their requests, so that a slow or silent sender holds
 * neither a thread nor a permit, only memory of a {@link BodyBudget}, and not for long.
 *
 * <p>What can be refused without the body is refused before: access, media type and an announced
 * length. Rows of imports are not collected; their routes read them as they come.
 */
final class BodyGate extends Handler.Wrapper {
  private static final long TICK_SECONDS = 1;

  /** What a request holds besides its body and the text of its headers, roughly. */
  private static final long REQUEST_BYTES = 4 * 1024;

  private final Access access;
  private final Permits permits;
  private final Observer observer;
  private final Executor requestThreads;
  private final BodyBudget budget = new BodyBudget();
  private final Set<WaitingBody> waiting = ConcurrentHashMap.newKeySet();
  private volatile List<Endpoints.JsonRoute> routes = List.of();
  private volatile Scheduler.@Nullable Task nextTick;

  BodyGate(
      Handler next, Access access, Permits permits, Observer observer, Executor requestThreads) {
    super(next);
    this.access = access;
    this.permits = permits;
    this.observer = observer;
    this.requestThreads = requestThreads;
    observer.gauge("coatcheck.bodies.waiting", waiting::size);
    observer.gauge("coatcheck.bodies.bytes", budget::bytesHeld);
  }

  /** Says whose bodies it collects. */
  void guard(List<Endpoints.JsonRoute> jsonRoutes) {
    routes = List.copyOf(jsonRoutes);
  }

  /** What takes time is handed to other threads. */
  @Override
  public InvocationType getInvocationType() {
    return InvocationType.NON_BLOCKING;
  }

  @Override
  public boolean handle(Request request, Response response, Callback callback) throws Exception {
    Optional<Endpoints.JsonRoute> route =
        request.getMethod().equals("GET") ? Optional.empty() : route(request);
    if (route.isEmpty()) {
      return super.handle(request, response, callback);
    }
    Exchange exchange = new Exchange(request, response, callback, route.get(), System.nanoTime());
    if (!hasBody(request)) {
      exchange.handOn(new byte[0]);
      return true;
    }
    Optional<String> authorization =
        Optional.ofNullable(request.getHeaders().get(HttpHeader.AUTHORIZATION));
    access
        .grantIfCached(authorization, route.get().needed())
        .ifPresentOrElse(
            granted -> collect(exchange, granted.caller()),
            () -> requestThreads.execute(() -> decide(exchange, authorization)));
    return true;
  }

  private Optional<Endpoints.JsonRoute> route(Request request) {
    String path = request.getHttpURI().getPath();
    return routes.stream().filter(route -> route.matches(request.getMethod(), path)).findFirst();
  }

  private static boolean hasBody(Request request) {
    return request.getLength() > 0 || request.getHeaders().contains(HttpHeader.TRANSFER_ENCODING);
  }

  /** Where the API key has to be looked up, on a thread that may wait. */
  private void decide(Exchange exchange, Optional<String> authorization) {
    try {
      Optional<Permits.Permit> permit = permits.enter(exchange.route.share());
      if (permit.isEmpty()) {
        exchange.shed("Send the request again.");
        return;
      }
      AccessDecision decision;
      try (Permits.Permit _ = permit.get()) {
        decision =
            Deadline.ofAnswer().call(() -> access.decide(authorization, exchange.route.needed()));
      }
      switch (decision) {
        case AccessDecision.Granted(Caller caller) -> collect(exchange, caller);
        case AccessDecision.Unauthenticated _, AccessDecision.Forbidden _ ->
            exchange.refuse(Endpoints.refusal(decision), false);
      }
    } catch (RuntimeException failed) {
      exchange.refuse(new Problems(observer).of(failed, RequestId.of(exchange.request)), false);
    }
  }

  private void collect(Exchange exchange, Caller caller) {
    Optional<Problem> otherType = RequestBody.typeRefusal(exchange.request.getHeaders());
    if (otherType.isPresent()) {
      exchange.refuse(otherType.get(), false);
      return;
    }
    BodyBudget.Account account = budget.open(caller.keyId(), bytesBesides(exchange.request));
    if (!account.hold(0)) {
      exchange.shed("Too many bodies of this API key, or of all, are on their way.");
      return;
    }
    Request.addCompletionListener(exchange.request, _ -> account.close());
    WaitingBody body =
        new WaitingBody(exchange.request, account, exchange.route.bytesMax(), exchange);
    exchange.body = Optional.of(body);
    waiting.add(body);
    body.run();
  }

  private static long bytesBesides(Request request) {
    long bytes = REQUEST_BYTES;
    for (HttpField field : request.getHeaders()) {
      String value = field.getValue();
      bytes += field.getName().length() + (value == null ? 0 : value.length());
    }
    return bytes;
  }

  @Override
  protected void doStart() throws Exception {
    super.doStart();
    scheduleTick();
  }

  @Override
  protected void doStop() throws Exception {
    Scheduler.Task task = nextTick;
    if (task != null) {
      task.cancel();
    }
    super.doStop();
  }

  private void scheduleTick() {
    nextTick = getServer().getScheduler().schedule(this::tick, TICK_SECONDS, TimeUnit.SECONDS);
  }

  private void tick() {
    try {
      long now = System.nanoTime();
      waiting.removeIf(body -> body.endIfSlow(now));
    } catch (RuntimeException bug) {
      observer.observe(new Event.RequestFailed("-", bug));
    } finally {
      scheduleTick();
    }
  }

  /** One request with its answer, and what becomes of its body. */
  private final class Exchange implements WaitingBody.Ending {
    private final Request request;
    private final Response response;
    private final Callback callback;
    private final Endpoints.JsonRoute route;
    private final long begun;
    private Optional<WaitingBody> body = Optional.empty();

    Exchange(
        Request request,
        Response response,
        Callback callback,
        Endpoints.JsonRoute route,
        long begun) {
      this.request = request;
      this.response = response;
      this.callback = callback;
      this.route = route;
      this.begun = begun;
    }

    @Override
    public void complete(byte[] bytes) {
      body.ifPresent(waiting::remove);
      handOn(bytes);
    }

    @Override
    public void refused(WaitingBody.Refused why, boolean isAllRead) {
      body.ifPresent(waiting::remove);
      switch (why) {
        case TOO_LARGE -> refuse(RequestBody.tooLarge(route.bytesMax()), !isAllRead);
        case NO_MEMORY -> shed("Too many large bodies of this API key, or of all, are under way.");
        case TOO_SLOW ->
            refuse(
                Problem.of(
                    ProblemCode.REQUEST_TIMEOUT,
                    "A body has to come with 1 KiB a second, and without a pause of 5 seconds."),
                true);
      }
    }

    @Override
    public void broken(Throwable cause) {
      body.ifPresent(waiting::remove);
      callback.failed(cause);
    }

    void handOn(byte[] bytes) {
      RequestBody.keep(request, bytes);
      try {
        if (!getHandler().handle(request, response, callback)) {
          Response.writeError(request, response, callback, 404);
        }
      } catch (Exception failed) {
        Response.writeError(request, response, callback, failed);
      }
    }

    void shed(String detail) {
      observer.observe(new Event.RequestShed(route.path()));
      refuse(Problem.retryAfter(ProblemCode.OVERLOADED, detail, Problems.jitteredSeconds()), false);
    }

    /**
     * Answers without the routes.
     *
     * @param closes whether the rest of the body is not waited for
     */
    void refuse(Problem problem, boolean closes) {
      Answer answer = Problems.answer(problem, RequestId.of(request));
      Callback end = callback;
      if (closes) {
        response.getHeaders().put(HttpHeader.CONNECTION, "close");
        // A success would have Jetty log that it still waits for the body.
        end =
            Callback.from(
                () -> callback.failed(new EOFException("the body was given up")), callback::failed);
      }
      answer.send(response, end, false);
      observer.observe(
          new Event.RequestServed(
              request.getMethod(), route.path(), answer.status(), System.nanoTime() - begun));
    }
  }
}
