package dev.coatcheck.ids.idempotency;

import static dev.coatcheck.postgres.sql.schema.Tables.IDEMPOTENCY_TURN;
import static org.jooq.impl.DSL.currentTimestamp;
import static org.jooq.impl.DSL.val;

import dev.coatcheck.postgres.sql.Database;
import java.time.Duration;
import org.jooq.DSLContext;
import org.jooq.Record1;
import org.jooq.SelectConditionStep;
import org.jspecify.annotations.Nullable;

/** Lets the parts of the answers take turns. */
final class IdempotencyStore {
  /** Calls wait behind a turn: as long as it waits, and as long as emptying a part takes. */
  private static final String WAIT_BRIEFLY = "set local lock_timeout = '30ms'";

  /** No transaction of a gateway lasts as long. */
  private static final int SETTLED_SECONDS = 60;

  private final Database database;

  IdempotencyStore(Database database) {
    this.database = database;
  }

  /**
   * Begins the next part if the current one is that old by the database's clock, and empties a part
   * that no lookup reads. Instances may ask at the same time: one of them does it.
   *
   * @return whether it was done
   * @throws dev.coatcheck.postgres.sql.LockTimeout if another transaction holds a lock; try again
   *     later
   */
  boolean rotate(Duration age) {
    return database.write(
        "idempotency turn",
        sql -> {
          sql.execute(WAIT_BRIEFLY);
          @Nullable Record1<Long> due =
              sql.select(IDEMPOTENCY_TURN.PART)
                  .from(IDEMPOTENCY_TURN)
                  .where(
                      "began_at <= now() - make_interval(secs => {0})",
                      val(age.toMillis() / 1_000.0))
                  .forUpdate()
                  .fetchOne();
          if (due == null) {
            return false;
          }
          sql.truncate(PartTable.emptiedAfter(due.value1())).execute();
          sql.update(IDEMPOTENCY_TURN)
              .set(IDEMPOTENCY_TURN.PART, due.value1() + 1)
              .set(IDEMPOTENCY_TURN.BEGAN_AT, currentTimestamp().coerce(IDEMPOTENCY_TURN.BEGAN_AT))
              .execute();
          return true;
        });
  }

  /**
   * Empties the part that no lookup has read since the current one began, once no transaction is
   * left that saw the part before it: a turn may not wait for those, and the next is hours away.
   *
   * @return whether there was something to empty
   * @throws dev.coatcheck.postgres.sql.LockTimeout if another transaction holds a lock; try again
   *     later
   */
  boolean empty() {
    return database.write(
        "idempotency turn",
        sql -> {
          @Nullable Record1<Long> current = settled(sql).fetchOne();
          if (current == null || !sql.fetchExists(PartTable.emptiedAfter(current.value1()))) {
            return false;
          }
          sql.execute(WAIT_BRIEFLY);
          @Nullable Record1<Long> locked = settled(sql).forUpdate().fetchOne();
          if (locked == null || !locked.value1().equals(current.value1())) {
            return false; // another instance began the next part
          }
          sql.truncate(PartTable.emptiedAfter(locked.value1())).execute();
          return true;
        });
  }

  /** The current part, if it began before every transaction that is under way. */
  private static SelectConditionStep<Record1<Long>> settled(DSLContext sql) {
    return sql.select(IDEMPOTENCY_TURN.PART)
        .from(IDEMPOTENCY_TURN)
        .where("began_at <= now() - make_interval(secs => {0})", val(SETTLED_SECONDS));
  }
}
