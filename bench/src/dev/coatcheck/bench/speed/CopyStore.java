package dev.coatcheck.bench.speed;

import dev.coatcheck.bench.baseline.MappingRows;
import dev.coatcheck.postgres.connection.DatabaseSettings;
import dev.coatcheck.postgres.session.Session;
import dev.coatcheck.postgres.sql.PlainSql;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.postgresql.PGConnection;

/** The yardstick of imports: one binary COPY into a table like the one of the mappings. */
final class CopyStore implements AutoCloseable {
  private static final int BUFFER_BYTES = 64 * 1024;

  /** No pool: its statements are bounded, and a COPY may take a minute. */
  private final Session session;

  CopyStore(DatabaseSettings settings) {
    this.session = Session.open(settings, "coatcheck bench");
  }

  void createTable() {
    session.longTransaction(
        "bench",
        sql ->
            PlainSql.execute(
                sql, "create table coatcheck.bench_copy (like coatcheck.public_id including all)"));
  }

  /** Empties both tables and lets Postgres settle, so that each run finds the same. */
  void reset() {
    session.longTransaction(
        "bench",
        sql -> PlainSql.execute(sql, "truncate coatcheck.bench_copy, coatcheck.public_id"));
    session.alone("bench", "checkpoint");
  }

  /** Copies a file in COPY's binary format; returns the number of rows. */
  long copy(Path rows) {
    return session.longTransaction(
        "bench",
        sql ->
            sql.connectionResult(
                connection -> {
                  try (InputStream file = Files.newInputStream(rows)) {
                    return connection
                        .unwrap(PGConnection.class)
                        .getCopyAPI()
                        .copyIn(
                            "copy coatcheck.bench_copy "
                                + MappingRows.COLUMNS
                                + " from stdin (format binary)",
                            file,
                            BUFFER_BYTES);
                  } catch (IOException unreadable) {
                    throw new UncheckedIOException(unreadable);
                  }
                }));
  }

  @Override
  public void close() {
    session.close();
  }
}
