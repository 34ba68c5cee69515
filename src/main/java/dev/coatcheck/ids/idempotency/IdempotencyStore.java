package dev.coatcheck.ids.idempotency;

import static dev.coatcheck.postgres.sql.schema.Tables.IDEMPOTENCY_TURN;
import static org.jooq.impl.DSL.currentTimestamp;
import static org.jooq.impl.DSL.val;

import dev.coatcheck.postgres.sql.Database;
import java.time.Duration;
import java.time.Instant;
import org.jooq.DSLContext;
import org.jooq.Field;
import org.jooq.Record1;
import org.jooq.SelectConditionStep;
import org.jspecify.annotations.Nullable;

/** Rotates the parts of the answers. */
final class IdempotencyStore {
  /** Calls wait behind a rotation: while it waits, and while it empties a part. */
  private static final String WAIT_BRIEFLY = "set local lock_timeout = '30ms'";

  /** Longer than any transaction of a gateway. */
  private static final Duration SETTLED = Duration.ofSeconds(60);

  private static final Field<Instant> NOW = currentTimestamp().coerce(IDEMPOTENCY_TURN.BEGAN_AT);

  private final Database database;

  IdempotencyStore(Database database) {
    this.database = database;
  }

  /**
   * Begins the next part if the current one is older than {@code age} by the database's clock, and
   * empties a part that no lookup reads. If that is empty it isn't truncated: a truncate waits for
   * every dump. Instances may call this concurrently; one of them does it.
   *
   * @return whether this instance did it
   * @throws dev.coatcheck.postgres.sql.LockTimeout if another transaction holds a lock; try again
   *     later
   */
  boolean rotate(Duration age) {
    return database.write(
        "idempotency turn",
        sql -> {
          sql.execute(WAIT_BRIEFLY);
          beginNoLaterThanNow(sql);
          @Nullable Record1<Long> due = begunBefore(sql, age).forUpdate().fetchOne();
          if (due == null) {
            return false;
          }
          if (sql.fetchExists(PartTable.emptiedAfter(due.value1()))) {
            sql.truncate(PartTable.emptiedAfter(due.value1())).execute();
          }
          sql.update(IDEMPOTENCY_TURN)
              .set(IDEMPOTENCY_TURN.PART, due.value1() + 1)
              .set(IDEMPOTENCY_TURN.BEGAN_AT, NOW)
              .execute();
          return true;
        });
  }

  /** A part that began before the clock was set back would last longer by as much. */
  private static void beginNoLaterThanNow(DSLContext sql) {
    sql.update(IDEMPOTENCY_TURN)
        .set(IDEMPOTENCY_TURN.BEGAN_AT, NOW)
        .where(IDEMPOTENCY_TURN.BEGAN_AT.gt(NOW))
        .execute();
  }

  /**
   * Empties the part that no lookup has read since the current one began, once no transaction is
   * left that saw the part before it. The rotation can't wait for those, and the next rotation is
   * hours away.
   *
   * @return whether there was anything to empty
   * @throws dev.coatcheck.postgres.sql.LockTimeout if another transaction holds a lock; try again
   *     later
   */
  boolean empty() {
    return database.write(
        "idempotency turn",
        sql -> {
          @Nullable Record1<Long> current = begunBefore(sql, SETTLED).fetchOne();
          if (current == null || !sql.fetchExists(PartTable.emptiedAfter(current.value1()))) {
            return false;
          }
          sql.execute(WAIT_BRIEFLY);
          @Nullable Record1<Long> locked = begunBefore(sql, SETTLED).forUpdate().fetchOne();
          if (locked == null || !locked.value1().equals(current.value1())) {
            return false; // another instance began the next part
          }
          sql.truncate(PartTable.emptiedAfter(locked.value1())).execute();
          return true;
        });
  }

  /** The current part, if it began so long ago by the database's clock. */
  private static SelectConditionStep<Record1<Long>> begunBefore(DSLContext sql, Duration age) {
    return sql.select(IDEMPOTENCY_TURN.PART)
        .from(IDEMPOTENCY_TURN)
        .where("began_at <= now() - make_interval(secs => {0})", val(age.toMillis() / 1_000.0));
  }
}
