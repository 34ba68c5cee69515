package dev.coatcheck.ids.mapping;

import dev.coatcheck.core.id.Token;
import dev.coatcheck.ids.idempotency.IdempotentCall;
import dev.coatcheck.ids.idempotency.StoredResponse;
import dev.coatcheck.ids.mapping.EndOutcome.Side;
import dev.coatcheck.ids.mapping.EndingPlan.Call;
import dev.coatcheck.ids.mapping.EndingPlan.Ref;
import dev.coatcheck.ids.mapping.EndingPlan.Step;
import dev.coatcheck.ids.mapping.EndingStore.Attempt;
import dev.coatcheck.ids.mapping.IdParser.ParsedToken;
import dev.coatcheck.ids.registry.Type;
import dev.coatcheck.postgres.connection.Deadline;
import dev.coatcheck.postgres.group.Coalescer;
import dev.coatcheck.postgres.sql.DatabaseUnavailable;
import dev.coatcheck.postgres.sql.LockTimeout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * Ends public IDs for good: revokes them, or merges them into a survivor. Ending one again in the
 * same way changes nothing. Every instance hears of it through the change feed.
 *
 * <p>Every ending waits for the head of the change feed, a single row. So requests that come at the
 * same time share one transaction, of which one at a time is under way, and a batch has one to
 * itself: however many requests there are, they hold two connections. A public ID that another
 * transaction works on holds up only the requests that name it: they try again for 800 ms.
 */
public final class Endings {
  public static final int REQUESTS_MAX = 1_000;

  private static final int GROUPS_MAX = 1;
  private static final int GROUP_CALLS_MAX = 100;
  private static final int BATCHES_MAX = 1;

  private static final long BUSY_NANOS = TimeUnit.MILLISECONDS.toNanos(800);
  private static final Duration BATCH = Duration.ofSeconds(5);

  /** What a turn takes at least; with less time left it would be broken off. */
  private static final long TURN_MILLIS_MIN = 250;

  private static final long PAUSE_NANOS_MIN = TimeUnit.MILLISECONDS.toNanos(2);
  private static final long PAUSE_NANOS_MAX = TimeUnit.MILLISECONDS.toNanos(30);

  private final EndingStore store;
  private final Resolver resolver;
  private final Coalescer<Call, Turn> groups =
      new Coalescer<>("end", GROUPS_MAX, GROUP_CALLS_MAX, this::together);
  private final Semaphore batches = new Semaphore(BATCHES_MAX, true);

  Endings(EndingStore store, Resolver resolver) {
    this.store = store;
    this.resolver = resolver;
  }

  /** One public ID to end. */
  public sealed interface Request {
    /** A revocation. The reason is for authenticated callers only; the first one stays. */
    record Revoke(String id, Optional<String> reason) implements Request {}

    record Merge(String id, String into) implements Request {}
  }

  /** What to do if some of the requests are refused. */
  public enum Mode {
    /** Each for itself. */
    EACH,
    /** All or none. */
    ALL_OR_NONE,
    /** None, whatever the others are: only say what would be refused. */
    NONE
  }

  /** What was done about the requests of one caller. */
  public sealed interface Result {
    /** Each has its outcome, in their order. */
    record Settled(List<EndOutcome> outcomes) implements Result {}

    /**
     * The requests came with an Idempotency-Key, and this is their answer, now and from now on.
     *
     * @param replayed whether it was worked out before
     */
    record Answered(StoredResponse answer, boolean replayed) implements Result {}

    /** The Idempotency-Key belongs to other requests. Nothing was done. */
    record KeyReused() implements Result {}

    /** Another transaction works on one of the public IDs, or on the key. Nothing was done. */
    record Busy() implements Result {}

    /** More endings wait than can be done in time. Nothing was done. */
    record Overloaded() implements Result {}
  }

  /** As the other one, for requests that came without an Idempotency-Key. */
  public Result end(List<Request> requests, Mode mode, String by) {
    return end(requests, mode, by, Optional.empty());
  }

  /**
   * Ends all in one transaction, one after the other. The answer is given after the commit.
   *
   * @param requests 1 to {@value #REQUESTS_MAX}
   * @param by a principal
   * @param once set if the requests came with an Idempotency-Key
   * @throws DatabaseUnavailable if the outcome is unknown; ending them again settles it
   */
  public Result end(
      List<Request> requests,
      Mode mode,
      String by,
      Optional<IdempotentCall<List<EndOutcome>>> once) {
    if (requests.isEmpty() || requests.size() > REQUESTS_MAX) {
      throw new IllegalArgumentException("requests: " + requests.size());
    }
    List<Parsed> parsed = requests.stream().map(this::parse).toList();
    List<Step> steps = new ArrayList<>();
    for (Parsed each : parsed) {
      if (each instanceof Parsed.Sound(Step step)) {
        steps.add(step);
      }
    }
    Predicate<List<EndOutcome>> write =
        switch (mode) {
          case EACH -> _ -> true;
          case ALL_OR_NONE ->
              outcomes ->
                  outcomes.size() == requests.size()
                      && outcomes.stream().allMatch(EndOutcome.Done.class::isInstance);
          case NONE -> _ -> false;
        };
    if (steps.isEmpty()) {
      return new Result.Settled(settled(parsed, List.of()));
    }
    Call call =
        new Call(
            steps,
            write,
            by,
            once.map(
                each ->
                    new IdempotentCall<>(
                        each.key(),
                        each.requestHash(),
                        outcomes -> each.answer().apply(settled(parsed, outcomes)))));
    Result result = call.isBatch() ? Deadline.after(BATCH).call(() -> settle(call)) : settle(call);
    return switch (result) {
      case Result.Settled(List<EndOutcome> outcomes) -> {
        steps.forEach(step -> resolver.forget(step.id().token()));
        yield new Result.Settled(settled(parsed, outcomes));
      }
      case Result.Answered answered -> {
        steps.forEach(step -> resolver.forget(step.id().token()));
        yield answered;
      }
      case Result.KeyReused reused -> reused;
      case Result.Busy busy -> busy;
      case Result.Overloaded overloaded -> overloaded;
    };
  }

  private static List<EndOutcome> settled(List<Parsed> parsed, List<EndOutcome> outcomes) {
    Iterator<EndOutcome> next = outcomes.iterator();
    return parsed.stream()
        .map(
            each ->
                switch (each) {
                  case Parsed.Sound _ -> next.next();
                  case Parsed.Refused(EndOutcome refused) -> refused;
                })
        .toList();
  }

  private Result settle(Call call) {
    long begun = System.nanoTime();
    boolean shares = !call.isBatch();
    while (true) {
      switch (shares ? groups.call(call) : alone(call)) {
        case Turn.Had(Attempt.Done(List<EndOutcome> outcomes)) -> {
          return new Result.Settled(outcomes);
        }
        case Turn.Had(Attempt.Answered(StoredResponse answer, boolean replayed)) -> {
          return new Result.Answered(answer, replayed);
        }
        case Turn.Had(Attempt.KeyReused _) -> {
          return new Result.KeyReused();
        }
        case Turn.Had(Attempt.Locked _) -> {
          if (System.nanoTime() - begun >= BUSY_NANOS
              || Deadline.current().leftMillis() < TURN_MILLIS_MIN) {
            return new Result.Busy();
          }
          LockSupport.parkNanos(
              ThreadLocalRandom.current().nextLong(PAUSE_NANOS_MIN, PAUSE_NANOS_MAX));
        }
        case Turn.Undone _ -> shares = false;
        case Turn.NotHad _ -> {
          return new Result.Overloaded();
        }
      }
    }
  }

  /** A call's turn in a transaction. */
  private sealed interface Turn {
    record Had(Attempt attempt) implements Turn {}

    /** Some call of the group failed, and all were rolled back: each is tried alone now. */
    record Undone() implements Turn {}

    /** It did not come in time; nothing was done. */
    record NotHad() implements Turn {}
  }

  private List<Turn> together(List<Call> calls) {
    try {
      return store.end(calls).stream().<Turn>map(Turn.Had::new).toList();
    } catch (EndingStore.Overtaken keyIsKept) {
      return all(calls, new Turn.Had(new Attempt.Locked()));
    } catch (LockTimeout feedIsHeld) {
      return all(calls, new Turn.NotHad());
    } catch (DatabaseUnavailable outage) {
      throw outage;
    } catch (RuntimeException bug) {
      if (calls.size() == 1) {
        throw bug;
      }
      return all(calls, new Turn.Undone()); // so that it meets only the call that brought it
    }
  }

  private static List<Turn> all(List<Call> calls, Turn turn) {
    return calls.stream().map(_ -> turn).toList();
  }

  private Turn alone(Call call) {
    try {
      long waitMillisMax = Deadline.current().leftMillis() - TURN_MILLIS_MIN;
      if (!batches.tryAcquire(waitMillisMax, TimeUnit.MILLISECONDS)) {
        return new Turn.NotHad();
      }
    } catch (InterruptedException stopping) {
      Thread.currentThread().interrupt();
      return new Turn.NotHad();
    }
    try {
      return together(List.of(call)).getFirst();
    } finally {
      batches.release();
    }
  }

  private sealed interface Parsed {
    record Sound(Step step) implements Parsed {}

    record Refused(EndOutcome outcome) implements Parsed {}
  }

  private Parsed parse(Request request) {
    return switch (request) {
      case Request.Revoke(String id, Optional<String> reason) ->
          parse(id, Side.ID, ref -> new Parsed.Sound(new Step.Revoke(ref, reason)));
      case Request.Merge(String id, String into) ->
          parse(
              id,
              Side.ID,
              ref ->
                  parse(
                      into,
                      Side.INTO,
                      survivor -> new Parsed.Sound(new Step.Merge(ref, survivor))));
    };
  }

  private Parsed parse(String text, Side side, Function<Ref, Parsed> then) {
    return switch (resolver.name(text)) {
      case ParsedToken.Refused(ResolveOutcome.Malformed malformed) ->
          new Parsed.Refused(new EndOutcome.Malformed(side, malformed));
      case ParsedToken.Refused(ResolveOutcome.Unknown _) ->
          new Parsed.Refused(new EndOutcome.Unknown(side));
      case ParsedToken.Wanted(Type type, Token token) -> then.apply(new Ref(type, token));
    };
  }
}
