package dev.coatcheck.bench.speed;

import dev.coatcheck.bench.baseline.MappingRows;
import dev.coatcheck.postgres.sql.Database;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.postgresql.PGConnection;

/** The yardstick of imports: one binary COPY into a table like the one of the mappings. */
final class CopyStore {
  private static final int BUFFER_BYTES = 64 * 1024;
  private final Database database;

  CopyStore(Database database) {
    this.database = database;
  }

  void createTable() {
    write("create table bench_copy (like coatcheck.public_id including all)");
  }

  /** Empties both tables and lets Postgres settle, so that each run finds the same. */
  void reset() {
    write("truncate bench_copy, coatcheck.public_id");
    database.read("checkpoint", sql -> sql.execute("checkpoint"));
  }

  /** Copies a file in COPY's binary format; returns the number of rows. */
  long copy(Path rows) {
    return database.write(
        "copy",
        sql ->
            sql.connectionResult(
                connection -> {
                  try (InputStream file = Files.newInputStream(rows)) {
                    return connection
                        .unwrap(PGConnection.class)
                        .getCopyAPI()
                        .copyIn(
                            "copy bench_copy "
                                + MappingRows.COLUMNS
                                + " from stdin (format binary)",
                            file,
                            BUFFER_BYTES);
                  } catch (IOException unreadable) {
                    throw new UncheckedIOException(unreadable);
                  }
                }));
  }

  private void write(String statement) {
    int _ = database.write("bench", sql -> sql.execute(statement));
  }
}
