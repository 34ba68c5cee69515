package dev.coatcheck.ids.idempotency;

import dev.coatcheck.postgres.group.LostRace;
import dev.coatcheck.postgres.group.RetryPause;
import dev.coatcheck.postgres.sql.Database;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jooq.DSLContext;

/** Transactions that do the work of a single call and store its response. */
public final class IdempotentCallTable {
  /** How long the work waits for a row, as without a key. */
  private static final int LOCK_MILLIS = 700;

  private IdempotentCallTable() {}

  /** Whether a response is stored for the key, to this request or to another one. */
  public static boolean isAnswered(Database database, IdempotencyKey key) {
    return database.read(
        "idempotency key",
        sql ->
            !IdempotencyTable.find(
                    sql, IdempotencyTable.lock(sql, List.of(), LOCK_MILLIS).part(), List.of(key))
                .isEmpty());
  }

  /** The stored response, for a call that would otherwise read much before its transaction. */
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
   * Does the work in one transaction, unless its key already has a response. While another
   * transaction uses the key, tries again for 800 ms or until the deadline.
   *
   * @param once empty for a call without a key
   * @throws dev.coatcheck.postgres.sql.DatabaseUnavailable if the outcome is unknown; repeating the
   *     call with its key tells it
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
        () -> unlessRaceIsLost(database, operation, sql -> write(sql, once.get(), work));
    RetryPause pause = new RetryPause();
    IdempotentResult<T> result = transaction.get();
    while (result instanceof IdempotentResult.Busy<T> && pause.beforeNextTry()) {
      result = transaction.get();
    }
    return result;
  }

  /** Stores the refusal of a call, unless its key already has a response. */
  public static <T> IdempotentResult<T> refuse(
      Database database, Optional<IdempotentCall<T>> once, T refusal) {
    return once.isEmpty()
        ? new IdempotentResult.Unkeyed<>(refusal)
        : write(database, "refusal", once, _ -> refusal);
  }

  private static <T> IdempotentResult<T> unlessRaceIsLost(
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
    IdempotencyTable.Entry entry = IdempotencyTable.Entry.of(once, work.apply(sql));
    IdempotencyTable.keep(sql, locks.part(), List.of(entry));
    return new IdempotentResult.Answered<>(entry.answer(), false);
  }

  private static <T> Optional<IdempotentResult<T>> answered(
      DSLContext sql, long part, IdempotentCall<T> once) {
    return Optional.ofNullable(
            IdempotencyTable.find(sql, part, List.of(once.key())).get(once.key()))
        .map(
            past ->
                past.of(
                    once,
                    answer -> new IdempotentResult.Answered<>(answer, true),
                    IdempotentResult.KeyReused::new));
  }
}
