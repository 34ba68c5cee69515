package dev.coatcheck.ids.idempotency;

import static dev.coatcheck.postgres.sql.schema.Tables.IDEMPOTENCY;
import static org.jooq.impl.DSL.val;

import dev.coatcheck.postgres.sql.Database;

/** Cleans the table of answers. */
final class IdempotencyStore {
  private final Database database;

  IdempotencyStore(Database database) {
    this.database = database;
  }

  /** Deletes expired answers, {@code rowsMax} at most; says how many. */
  int purge(int rowsMax) {
    return database.write(
        "idempotency purge",
        sql ->
            sql.execute(
                """
                delete from {0} where (bucket, owner, key) in (
                  select bucket, owner, key from {0}
                   where expires_at <= now() order by expires_at limit {1}
                   for update skip locked)
                """,
                IDEMPOTENCY, val(rowsMax)));
  }
}
