package dev.coatcheck.api.body;

import dev.coatcheck.api.exchange.Failures;
import dev.coatcheck.api.exchange.Problem;
import dev.coatcheck.api.exchange.RequestAccess;
import dev.coatcheck.api.exchange.RequestBody;
import dev.coatcheck.api.exchange.RequestId;
import dev.coatcheck.api.server.Endpoints;
import dev.coatcheck.api.server.JsonRoutes;
import dev.coatcheck.api.server.Permits;
import dev.coatcheck.api.server.RateLimits;
import dev.coatcheck.core.attempt.NonBlockingAttempt;
import dev.coatcheck.core.observe.Event;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.ids.access.AccessDecision;
import dev.coatcheck.ids.access.Caller;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.postgres.connection.Deadline;
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
 * Collects bodies before the routes see their requests. So a slow or silent sender holds neither a
 * thread nor a permit, only memory of a {@link BodyBudget}, for a limited time.
 *
 * <p>A request that can be refused without its body is refused before: for its access, its quota,
 * its media type or its announced length. Files of rows are not collected; their routes read them
 * as they arrive, and the rest of a refused one is dropped here.
 */
public final class BodyGate extends Handler.Wrapper {
  private static final long TICK_SECONDS = 1;

  /** The budget account of requests without a valid API key. */
  private static final String NO_KEY = "";

  /** Roughly what a request holds besides its body and the text of its headers. */
  private static final long REQUEST_BYTES = 4 * 1024;

  private final RequestAccess access;
  private final RateLimits limits;
  private final Permits permits;
  private final Observer observer;
  private final Failures failures;
  private final Executor requestThreads;
  private final BodyBudget budget = new BodyBudget();
  private final Set<WaitingBody> waiting = ConcurrentHashMap.newKeySet();
  private volatile JsonRoutes routes = JsonRoutes.none();
  private volatile Scheduler.@Nullable Task nextTick;

  public BodyGate(
      RequestAccess access,
      RateLimits limits,
      Permits permits,
      Observer observer,
      Executor requestThreads) {
    this.access = access;
    this.limits = limits;
    this.permits = permits;
    this.observer = observer;
    this.failures = new Failures(observer);
    this.requestThreads = requestThreads;
  }

  /** Measures the bodies of this gate. */
  public void measure() {
    observer.gauge("coatcheck.bodies.waiting", waiting::size);
    observer.gauge("coatcheck.bodies.bytes", budget::bytesHeld);
  }

  /** Sets the routes whose bodies are collected. */
  public void guard(JsonRoutes jsonRoutes) {
    routes = jsonRoutes;
  }

  /** Slow work is passed to other threads. */
  @Override
  public InvocationType getInvocationType() {
    return InvocationType.NON_BLOCKING;
  }

  @Override
  public boolean handle(Request request, Response response, Callback callback) {
    Optional<JsonRoutes.Route> route =
        request.getMethod().equals("GET")
            ? Optional.empty()
            : routes.find(request.getMethod(), request.getHttpURI().getPath());
    if (route.isEmpty()) {
      if (hasBody(request)) {
        handOnStreamed(request, response, callback);
      } else {
        handOn(request, response, callback);
      }
      return true;
    }
    GatedRequest gated = new GatedRequest(this, observer, route.get(), request, response, callback);
    if (!hasBody(request)) {
      gated.complete(new byte[0]);
      return true;
    }
    if (route.get().needed().isEmpty()) {
      collect(gated, NO_KEY);
      return true;
    }
    Scope needed = route.get().needed().get();
    if (new NonBlockingAttempt<>(() -> access.decide(request, needed)).run()
        instanceof NonBlockingAttempt.Outcome.Done(AccessDecision.Granted(Caller caller))) {
      collect(gated, caller);
    } else {
      requestThreads.execute(() -> decide(gated, needed));
    }
    return true;
  }

  private void handOnStreamed(Request request, Response response, Callback callback) {
    GatedRequest gated =
        new GatedRequest(this, observer, JsonRoutes.Route.NONE, request, response, callback);
    StreamedRequest streamed = new StreamedRequest(request, response, () -> open(gated, NO_KEY));
    handOn(
        streamed,
        response,
        Callback.from(
            () -> streamed.rest().ifPresentOrElse(gated::drop, callback::succeeded),
            callback::failed));
  }

  private static boolean hasBody(Request request) {
    return request.getLength() > 0 || request.getHeaders().contains(HttpHeader.TRANSFER_ENCODING);
  }

  /** For an API key that has to be looked up, on a thread that may wait. */
  private void decide(GatedRequest gated, Scope needed) {
    try {
      Optional<Permits.Permit> permit = permits.enter(gated.route().share());
      if (permit.isEmpty()) {
        observer.observe(new Event.RequestShed(gated.route().path()));
        refuse(gated, NO_KEY, Endpoints.noPermit());
        return;
      }
      AccessDecision decision;
      try (Permits.Permit _ = permit.get()) {
        decision = Deadline.ofAnswer().call(() -> access.decide(gated.request(), needed));
      }
      switch (decision) {
        case AccessDecision.Granted(Caller caller) -> collect(gated, caller);
        case AccessDecision.Refused refused ->
            refuse(
                gated,
                NO_KEY,
                limits
                    .countAddress(gated.request(), gated.response())
                    .orElseGet(() -> Endpoints.refusal(refused)));
      }
    } catch (RuntimeException failed) {
      refuse(gated, NO_KEY, failures.problem(failed, RequestId.of(gated.request())));
    }
  }

  private void collect(GatedRequest gated, Caller caller) {
    limits
        .count(gated.request(), gated.response(), caller)
        .ifPresentOrElse(
            tooMany -> refuse(gated, caller.chain(), tooMany),
            () -> collect(gated, caller.chain()));
  }

  private void collect(GatedRequest gated, String chain) {
    Request request = gated.request();
    Optional<Problem> refusal =
        RequestBody.typeRefusal(request.getHeaders(), gated.route().mediaTypes())
            .or(gated::announcedTooLarge);
    if (refusal.isPresent()) {
      refuse(gated, chain, refusal.get());
      return;
    }
    open(gated, chain)
        .ifPresentOrElse(WaitingBody::begin, () -> gated.noMemory(request.consumeAvailable()));
  }

  private void refuse(GatedRequest gated, String chain, Problem problem) {
    open(gated, chain)
        .ifPresentOrElse(
            body -> gated.refuse(problem, body),
            () -> gated.refuse(problem, gated.request().consumeAvailable()));
  }

  /** Empty if the budget has no memory for another request with this API key. */
  private Optional<WaitingBody> open(GatedRequest gated, String chain) {
    Request request = gated.request();
    BodyBudget.Account account = budget.open(chain, bytesBesides(request));
    if (!account.hold(0)) {
      return Optional.empty();
    }
    Request.addCompletionListener(request, _ -> account.close());
    return Optional.of(new WaitingBody(gated, account, waiting));
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
      waiting.forEach(body -> body.endIfSlow(now));
    } catch (RuntimeException bug) {
      observer.observe(new Event.RequestFailed("-", bug)); // the next tick runs anyway
    } finally {
      scheduleTick();
    }
  }

  /** Routes may wait, and this thread may be one that reads connections. */
  void handOn(Request request, Response response, Callback callback) {
    if (super.getInvocationType() == InvocationType.NON_BLOCKING) {
      answer(super::handle, request, response, callback);
    } else {
      requestThreads.execute(() -> answer(super::handle, request, response, callback));
    }
  }

  /** Lets a handler answer; what it leaves or throws is answered all the same. */
  public static void answer(
      Request.Handler handler, Request request, Response response, Callback callback) {
    try {
      if (!handler.handle(request, response, callback)) {
        Response.writeError(request, response, callback, 404);
      }
    } catch (Throwable failed) {
      Response.writeError(request, response, callback, failed);
    }
  }
}
