package dev.coatcheck.bulk.export;

import dev.coatcheck.bulk.rows.RowFormat;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.ids.registry.Type;
import dev.coatcheck.postgres.connection.DatabaseSettings;
import java.io.IOException;
import java.io.OutputStream;
import java.util.function.Consumer;

/**
 * Writes the mappings of a type in the order of keys, from one snapshot, row by row, however many
 * there are.
 */
public final class Exporter {
  private final ExportStore store;

  public Exporter(DatabaseSettings settings, Observer observer) {
    this.store = new ExportStore(settings, observer);
  }

  /**
   * Writes all mappings.
   *
   * @param includeEnded whether revoked and merged ones are included, with a column {@code status};
   *     such a file can't be imported
   * @param target receives output only after the answer of Postgres has begun
   * @param whenGone is given what ends the export once its reader has gone, on any thread
   * @throws dev.coatcheck.postgres.sql.DatabaseUnavailable if Postgres is not available; nothing
   *     was written
   */
  public ExportOutcome run(
      Type type,
      RowFormat format,
      boolean includeEnded,
      OutputStream target,
      Consumer<Runnable> whenGone) {
    ExportWriter writer = new ExportWriter(type, format, includeEnded, target);
    ExportOutcome outcome = store.read(type, includeEnded, writer, whenGone);
    if (outcome != ExportOutcome.DONE) {
      return outcome;
    }
    try {
      writer.finish();
      return ExportOutcome.DONE;
    } catch (IOException gone) {
      return ExportOutcome.READER_GONE;
    }
  }
}
