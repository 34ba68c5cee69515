package dev.coatcheck.ids.idempotency;

import dev.coatcheck.postgres.connection.Deadline;
import dev.coatcheck.postgres.sql.Database;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jooq.DSLContext;

/** Transactions that do the work of one call and keep its answer, for calls that come alone. */
public final class IdempotentCallTable {
  private static final long BUSY_NANOS = TimeUnit.MILLISECONDS.toNanos(800);

  /** What a pause and a transaction take; with less time left the pool lends no connection. */
  private static final int TRY_MILLIS_MIN = 300;

  /** For a row that the work waits for, as without a key. */
  private static final int LOCK_MILLIS = 700;

  private static final long PAUSE_NANOS_MIN = TimeUnit.MILLISECONDS.toNanos(2);
  private static final long PAUSE_NANOS_MAX = TimeUnit.MILLISECONDS.toNanos(30);

  private IdempotentCallTable() {}

  /** Another transaction kept an answer for the same key; everything was rolled back. */
  private static final class LostRace extends RuntimeException {
    private static final long serialVersionUID = 1L;

    LostRace() {
      super("idempotency key", null, false, false);
    }
  }

  /** Whether an answer is kept for the key, to this request or to another one. */
  public static boolean isAnswered(Database database, IdempotencyKey key) {
    return database.read(
        "idempotency key",
        sql ->
            !IdempotencyTable.find(
                    sql, IdempotencyTable.lock(sql, List.of(), LOCK_MILLIS).part(), List.of(key))
                .isEmpty());
  }

  /** What the key says already, for a call that has much to look at before its transaction. */
  public static <T> Optional<IdempotentResult<T>> answered(
      Database database, Optional<IdempotentCall<T>> once) {
    return once.flatMap(
        keyed ->
            database.read(
                "idempotency key",
                sql ->
                    answered(
                        sql, IdempotencyTable.lock(sql, List.of(), LOCK_MILLIS).part(), keyed)));
  }

  /**
   * Does the work in one transaction, unless its key has an answer already. While another
   * transaction works on the key, tries again for 800 ms or for as long as the deadline leaves.
   *
   * @param once empty for a call without a key
   * @throws dev.coatcheck.postgres.sql.DatabaseUnavailable if the outcome is unknown; the same call
   *     with the same key settles it
   */
  public static <T> IdempotentResult<T> write(
      Database database,
      String operation,
      Optional<IdempotentCall<T>> once,
      Function<DSLContext, T> work) {
    if (once.isEmpty()) {
      return new IdempotentResult.Unkeyed<>(database.write(operation, work));
    }
    Supplier<IdempotentResult<T>> transaction =
        () -> unlessOvertaken(database, operation, sql -> write(sql, once.get(), work));
    long begun = System.nanoTime();
    IdempotentResult<T> result = transaction.get();
    while (result instanceof IdempotentResult.Busy<T>
        && System.nanoTime() - begun < BUSY_NANOS
        && Deadline.current().leftMillis() >= TRY_MILLIS_MIN) {
      LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(PAUSE_NANOS_MIN, PAUSE_NANOS_MAX));
      result = transaction.get();
    }
    return result;
  }

  private static <T> IdempotentResult<T> unlessOvertaken(
      Database database, String operation, Function<DSLContext, IdempotentResult<T>> work) {
    try {
      return database.write(operation, work);
    } catch (LostRace keyIsKept) {
      return new IdempotentResult.Busy<>();
    }
  }

  private static <T> IdempotentResult<T> write(
      DSLContext sql, IdempotentCall<T> once, Function<DSLContext, T> work) {
    IdempotencyTable.Locks locks =
        IdempotencyTable.lock(sql, List.of(once.key().lock()), LOCK_MILLIS);
    if (!locks.refused().isEmpty()) {
      return new IdempotentResult.Busy<>();
    }
    Optional<IdempotentResult<T>> before = answered(sql, locks.part(), once);
    if (before.isPresent()) {
      return before.get();
    }
    StoredResponse answer = once.answer().apply(work.apply(sql));
    List<IdempotencyTable.Entry> entries =
        answer.isKept()
            ? List.of(new IdempotencyTable.Entry(once.key(), once.requestHash(), answer))
            : List.of();
    if (!IdempotencyTable.keep(sql, locks.part(), entries)) {
      throw new LostRace();
    }
    return new IdempotentResult.Answered<>(answer, false);
  }

  private static <T> Optional<IdempotentResult<T>> answered(
      DSLContext sql, long part, IdempotentCall<T> once) {
    return Optional.ofNullable(
            IdempotencyTable.find(sql, part, List.of(once.key())).get(once.key()))
        .map(
            past ->
                past.requestHash().equals(once.requestHash())
                    ? new IdempotentResult.Answered<>(past.answer(), true)
                    : new IdempotentResult.KeyReused<>());
  }
}
