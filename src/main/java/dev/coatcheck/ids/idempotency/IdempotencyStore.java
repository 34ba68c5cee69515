package dev.coatcheck.ids.idempotency;

import static dev.coatcheck.postgres.sql.schema.Tables.IDEMPOTENCY_TURN;
import static org.jooq.impl.DSL.currentTimestamp;
import static org.jooq.impl.DSL.val;

import dev.coatcheck.postgres.sql.Database;
import java.time.Duration;
import org.jooq.Record1;
import org.jspecify.annotations.Nullable;

/** Lets the parts of the answers take turns. */
final class IdempotencyStore {
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
          sql.execute("set local lock_timeout = '50ms'");
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
}
