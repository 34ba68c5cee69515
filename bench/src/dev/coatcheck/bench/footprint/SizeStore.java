package dev.coatcheck.bench.footprint;

import static dev.coatcheck.postgres.sql.schema.Tables.PUBLIC_ID;
import static java.util.Objects.requireNonNull;

import dev.coatcheck.postgres.sql.Database;

/** Asks Postgres how much room the mappings take. */
final class SizeStore {
  private final Database database;

  SizeStore(Database database) {
    this.database = database;
  }

  long rows() {
    return database.read("count", sql -> sql.fetchCount(PUBLIC_ID));
  }

  long heapBytes() {
    return bytes("coatcheck.public_id", "pg_relation_size");
  }

  long totalBytes() {
    return bytes("coatcheck.public_id", "pg_total_relation_size");
  }

  long tokenIndexBytes() {
    return bytes("coatcheck.public_id_token_is_unique", "pg_relation_size");
  }

  long keyIndexBytes() {
    return bytes("coatcheck.public_id_key_is_unique", "pg_relation_size");
  }

  private long bytes(String relation, String function) {
    return database.read(
        "size",
        sql ->
            ((Number)
                    requireNonNull(
                        sql.fetchValue("select " + function + "(?::regclass)", relation)))
                .longValue());
  }
}
