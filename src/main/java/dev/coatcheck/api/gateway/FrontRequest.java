package dev.coatcheck.api.gateway;

import dev.coatcheck.api.exchange.Answer;
import dev.coatcheck.api.exchange.Failures;
import dev.coatcheck.api.exchange.Problem;
import dev.coatcheck.api.exchange.RequestAccess;
import dev.coatcheck.api.exchange.RequestId;
import dev.coatcheck.api.server.Endpoints;
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
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Function;
import java.util.function.Supplier;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;

/**
 * A request that is answered without a request thread. Until the answer is sent, every unclear case
 * ends with {@link #handOver}, because the routes can handle it.
 */
final class FrontRequest {
  private final Means means;
  private final Request request;
  private final Response response;
  private final Callback callback;
  private final Runnable toRoutes;
  private final long begunNano = System.nanoTime();
  private Optional<Caller> caller = Optional.empty();

  /**
   * What all requests share.
   *
   * @param permits of the requests that wait here; the routes have other permits
   */
  record Means(
      RequestAccess access,
      RateLimits limits,
      Permits permits,
      Observer observer,
      Failures failures,
      Executor requestThreads) {}

  /**
   * @param toRoutes lets the route answer, which may wait
   */
  FrontRequest(
      Means means, Request request, Response response, Callback callback, Runnable toRoutes) {
    this.means = means;
    this.request = request;
    this.response = response;
    this.callback = callback;
    this.toRoutes = toRoutes;
  }

  /**
   * @param route its name in the metrics
   * @param needed empty if no API key is needed
   * @param work computes the answer, for a caller if access is needed
   */
  record Operation(String route, Optional<Scope> needed, Function<Optional<Caller>, Answer> work) {

    static Operation open(String route, Supplier<Answer> work) {
      return new Operation(route, Optional.empty(), _ -> work.get());
    }

    Permits.Share share() {
      return needed.map(Permits.Share::of).orElse(Permits.Share.RESOLVES);
    }

    /** Whether a body has to be parsed, which takes too long for a reading thread. */
    boolean takesLong() {
      return share() == Permits.Share.MINTS;
    }
  }

  void answer(Operation operation) {
    if (operation.takesLong()) {
      means.requestThreads().execute(() -> ended(() -> attempt(operation)));
    } else {
      ended(() -> attempt(operation));
    }
  }

  /** Ends the request if a step fails, because a shutdown waits for every request. */
  private void ended(Runnable step) {
    try {
      step.run();
    } catch (RuntimeException | Error failed) {
      callback.failed(failed);
    }
  }

  /**
   * Answers from memory, or starts loading the missing rows. An answer from memory needs no permit:
   * at most as many of these requests run as there are reading threads.
   */
  private void attempt(Operation operation) {
    NonBlockingAttempt<Answer> work = new NonBlockingAttempt<>(() -> answered(operation));
    NonBlockingAttempt.Outcome<Answer> attempt;
    try {
      attempt = work.run();
    } catch (RuntimeException refused) {
      handOver();
      return;
    }
    switch (attempt) {
      case NonBlockingAttempt.Outcome.Done(Answer answer) -> send(operation, answer, fromMemory());
      case NonBlockingAttempt.Outcome.Awaits<Answer> awaits -> load(operation, work, awaits);
      case NonBlockingAttempt.Outcome.Left<Answer> _ -> handOver();
    }
  }

  private Answer answered(Operation operation) {
    if (operation.needed().isPresent()) {
      switch (decided(operation)) {
        case AccessDecision.Granted granted -> caller = Optional.of(granted.caller());
        case AccessDecision.Refused _ -> NonBlockingAttempt.leave();
      }
    }
    Optional<Problem> tooMany =
        caller.isPresent()
            ? means.limits().count(request, response, caller.get())
            : means.limits().countAddress(request, response);
    return tooMany.isPresent() ? Answer.of(tooMany.get()) : operation.work().apply(caller);
  }

  /**
   * Asked again when the rows are there, because a key may have been revoked meanwhile; but a mint
   * is decided once. It is committed by then, and access that is no longer in memory would lead the
   * request to its route, which would mint again.
   */
  private AccessDecision decided(Operation operation) {
    Supplier<AccessDecision> decide =
        () -> means.access().decide(request, operation.needed().orElseThrow());
    return operation.takesLong()
        ? NonBlockingAttempt.once(AccessDecision.class, decide)
        : decide.get();
  }

  /**
   * From here on the request has a permit and a deadline, like all requests that wait for Postgres.
   * Without a permit it is refused here, with the answer of the routes: if a refusal cost as much
   * as an answer, a flood of requests would leave no room for answers.
   */
  private void load(
      Operation operation,
      NonBlockingAttempt<Answer> work,
      NonBlockingAttempt.Outcome.Awaits<Answer> awaits) {
    Optional<Permits.Permit> permit = means.permits().enter(operation.share());
    if (permit.isEmpty()) {
      shed(operation, Endpoints.noPermit());
      return;
    }
    if (!caller.stream().allMatch(who -> permit.get().claim(who.chain()))) {
      permit.get().close();
      shed(operation, Endpoints.keyHoldsHalf());
      return;
    }
    Request.addCompletionListener(request, _ -> permit.get().close());
    await(new Loading(operation, work, permit.get(), Deadline.ofAnswer()), awaits);
  }

  private void shed(Operation operation, Problem problem) {
    means.observer().observe(new Event.RequestShed(operation.route()));
    send(operation, Answer.of(problem), Optional.empty());
  }

  /** A request that waits for one or more rows. */
  private record Loading(
      Operation operation,
      NonBlockingAttempt<Answer> work,
      Permits.Permit permit,
      Deadline deadline) {}

  private void await(Loading loading, NonBlockingAttempt.Outcome.Awaits<Answer> awaits) {
    CompletableFuture<?> loaded = loading.deadline().call(() -> awaits.start().get());
    var _ = loaded.whenComplete((_, _) -> ended(() -> resume(loading)));
  }

  private void resume(Loading loading) {
    NonBlockingAttempt.Outcome<Answer> attempt;
    try {
      attempt = loading.deadline().call(loading.work()::run);
    } catch (RuntimeException failed) {
      // Don't fall back to the route: it could repeat a write that was committed.
      attempt =
          new NonBlockingAttempt.Outcome.Done<>(
              Answer.of(means.failures().problem(failed, RequestId.of(request))));
    }
    switch (attempt) {
      case NonBlockingAttempt.Outcome.Done(Answer answer) ->
          send(loading.operation(), answer, Optional.of(new Event.LoadedAnswerServed()));
      case NonBlockingAttempt.Outcome.Awaits<Answer> awaits -> await(loading, awaits);
      case NonBlockingAttempt.Outcome.Left<Answer> _ -> {
        loading.permit().close(); // the route takes another permit
        means.requestThreads().execute(() -> loading.deadline().run(toRoutes::run));
      }
    }
  }

  /**
   * A request on a virtual thread was already passed to another thread, because a handler around
   * this one declares that it may wait. Such a request doesn't count.
   */
  private static Optional<Event> fromMemory() {
    return Thread.currentThread().isVirtual()
        ? Optional.empty()
        : Optional.of(new Event.CachedAnswerServed());
  }

  private void send(Operation operation, Answer answer, Optional<Event> door) {
    answer.send(request, response, Callback.from(callback, () -> served(operation, answer, door)));
  }

  private void served(Operation operation, Answer answer, Optional<Event> door) {
    door.ifPresent(means.observer()::observe);
    means
        .observer()
        .observe(
            new Event.RequestServed(
                request.getMethod(),
                operation.route(),
                answer.status(),
                System.nanoTime() - begunNano));
  }

  /** Passes the request to its route, on a thread that may wait. */
  void handOver() {
    means.requestThreads().execute(toRoutes);
  }
}
