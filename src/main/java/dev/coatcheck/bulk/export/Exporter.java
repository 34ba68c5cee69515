package dev.coatcheck.bulk.export;

import dev.coatcheck.bulk.rows.RowFormat;
import dev.coatcheck.ids.registry.Type;
import dev.coatcheck.postgres.sql.Database;
import java.io.IOException;
import java.io.OutputStream;

/**
 * Writes the mappings of a type, in the order of keys: as they were at one moment, row by row as
 * Postgres hands them over, however many they are.
 */
public final class Exporter {
  private final ExportStore store;

  public Exporter(Database database) {
    this.store = new ExportStore(database);
  }

  /**
   * Writes all of them.
   *
   * @param includeEnded whether revoked and merged ones are written too, with a column {@code
   *     status}; such a file can't be imported
   * @param target is written to only after Postgres has begun to answer
   * @throws IOException if the reader went away, or Postgres broke off: what was written then is
   *     not all
   * @throws dev.coatcheck.postgres.sql.DatabaseUnavailable if Postgres can't be asked; nothing was
   *     written
   */
  public void run(Type type, RowFormat format, boolean includeEnded, OutputStream target)
      throws IOException {
    ExportWriter writer = new ExportWriter(type, format, includeEnded, target);
    store.read(type, includeEnded, writer);
    writer.finish();
  }
}
