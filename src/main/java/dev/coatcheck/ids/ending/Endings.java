package dev.coatcheck.ids.ending;

import dev.coatcheck.cluster.audit.Actor;
import dev.coatcheck.ids.access.AllowedTypes;
import dev.coatcheck.ids.ending.EndOutcome.Side;
import dev.coatcheck.ids.ending.EndingPlan.Call;
import dev.coatcheck.ids.ending.EndingPlan.Step;
import dev.coatcheck.ids.idempotency.IdempotentCall;
import dev.coatcheck.ids.idempotency.StoredResponse;
import dev.coatcheck.ids.mapping.IdText;
import dev.coatcheck.ids.mapping.Resolver;
import dev.coatcheck.postgres.connection.Deadline;
import dev.coatcheck.postgres.group.GroupCommit;
import dev.coatcheck.postgres.group.GroupCommit.Attempt;
import dev.coatcheck.postgres.sql.Database;
import dev.coatcheck.postgres.sql.DatabaseUnavailable;
import dev.coatcheck.postgres.sql.LockTimeout;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.function.Function;

/**
 * Ends public IDs for good: revokes them, or merges them into a survivor. Repeating an ending
 * changes nothing. Every instance learns of it through the change feed.
 *
 * <p>Every ending waits for the head of the change feed, a single row. So one group runs at a time,
 * a second one while the first is late, and one batch or single call beside them: any number of
 * requests uses at most three connections.
 */
public final class Endings {
  public static final int REQUESTS_MAX = 1_000;

  private static final int GROUPS_MAX = 1;
  private static final int SPARE_GROUPS_MAX = 1;

  /** As long as the deadline of a batch allows. */
  private static final int BATCH_WAIT_MILLIS_MAX = 5_000;

  private final EndingStore store;
  private final Resolver resolver;
  private final GroupCommit<Call, Result> commits;

  /** Ends public IDs of {@code resolver}, whose cache drops them. */
  public Endings(Database database, Resolver resolver) {
    this.store = new EndingStore(database);
    this.resolver = resolver;
    Semaphore beside = new Semaphore(1, true);
    this.commits =
        new GroupCommit<>(
            "end",
            new GroupCommit.Limits(
                GROUPS_MAX, SPARE_GROUPS_MAX, beside, beside, BATCH_WAIT_MILLIS_MAX),
            (calls, _) -> commit(calls),
            new Result.Busy(),
            new Result.Overloaded());
  }

  /**
   * Loads the classes that an ending needs. On a busy machine this takes most of the first call's
   * time, and all calls that arrive with it would wait. Takes 900 ms at most.
   */
  public void warmUp() {
    try {
      Deadline.ofAnswer().run(store::warmUp);
    } catch (DatabaseUnavailable late) {
      // Then the first calls are slower.
    }
  }

  public sealed interface Request {
    /** A revocation. Only authenticated callers see the reason; the first reason is kept. */
    record Revoke(String id, Optional<String> reason) implements Request {}

    record Merge(String id, String into) implements Request {}
  }

  /** What happens if some of the requests are refused. */
  public enum Mode {
    /** Each request is independent. */
    EACH,
    ALL_OR_NONE,
    /** Nothing is written; the outcomes say what would be refused. */
    NONE
  }

  /** The result of one caller's requests. */
  public sealed interface Result {
    /** The outcomes, in the order of the requests. */
    record Settled(List<EndOutcome> outcomes) implements Result {}

    /**
     * The response to requests with an Idempotency-Key, now and for every repetition.
     *
     * @param replayed whether the response was stored before
     */
    record Answered(StoredResponse answer, boolean replayed) implements Result {}

    /**
     * The Idempotency-Key was used for other requests. Nothing was done.
     *
     * @param forOtherTypes whether it was these requests, of a caller with other types
     */
    record KeyReused(boolean forOtherTypes) implements Result {}

    /**
     * Another transaction is using one of the public IDs or the Idempotency-Key. Nothing was done.
     */
    record Busy() implements Result {}

    /** More endings are waiting than can be done in time. Nothing was done. */
    record Overloaded() implements Result {}
  }

  /**
   * Ends all in one transaction, one after the other, and returns after the commit.
   *
   * @param requests up to {@value #REQUESTS_MAX}
   * @param allowed types that the actor may use
   * @param once set if the requests have an Idempotency-Key
   * @throws dev.coatcheck.postgres.sql.DatabaseUnavailable if the outcome is unknown; repeating the
   *     requests tells it
   */
  public Result end(
      List<Request> requests,
      Mode mode,
      Actor by,
      AllowedTypes allowed,
      Optional<IdempotentCall<List<EndOutcome>>> once) {
    if (requests.size() > REQUESTS_MAX) {
      throw new IllegalArgumentException("requests: " + requests.size());
    }
    Call call =
        new Call(requests.stream().map(each -> step(each, allowed)).toList(), mode, by, once);
    // What was done once may be refused now, for example by an alias that was removed since.
    if (call.once().isEmpty() && call.refused().size() == requests.size()) {
      return new Result.Settled(call.refused());
    }
    Result result = commits.settle(call);
    call.ids().forEach(id -> resolver.forget(id.type(), id.token()));
    return result;
  }

  private List<Attempt<Result>> commit(List<Call> calls) {
    try {
      return store.end(calls);
    } catch (LockTimeout feedIsHeld) {
      return calls.stream()
          .<Attempt<Result>>map(_ -> new Attempt.Done<>(new Result.Overloaded()))
          .toList();
    }
  }

  private Step step(Request request, AllowedTypes allowed) {
    return switch (request) {
      case Request.Revoke(String id, Optional<String> reason) ->
          step(id, Side.ID, allowed, revoked -> new Step.Revoke(revoked, reason));
      case Request.Merge(String id, String into) ->
          step(
              id,
              Side.ID,
              allowed,
              merged ->
                  step(into, Side.INTO, allowed, survivor -> new Step.Merge(merged, survivor)));
    };
  }

  private Step step(
      String text, Side side, AllowedTypes allowed, Function<IdText.OfToken, Step> then) {
    return switch (resolver.parse(text, allowed)) {
      case IdText.Unissued(var why) -> new Step.Refused(new EndOutcome.Unissued(side, why));
      case IdText.OfErased _ -> new Step.Refused(new EndOutcome.Erased(side));
      case IdText.OfToken id -> then.apply(id);
    };
  }
}
