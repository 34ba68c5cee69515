package dev.coatcheck.migrate.file;

import dev.coatcheck.bulk.load.LegacyKeyTable;
import dev.coatcheck.bulk.rows.RowFormat;
import dev.coatcheck.bulk.rows.RowSummary;
import dev.coatcheck.core.id.TokenSource;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.ids.idempotency.IdempotentFile;
import dev.coatcheck.ids.idempotency.IdempotentResult;
import dev.coatcheck.ids.registry.Registry;
import dev.coatcheck.ids.registry.Type;
import dev.coatcheck.migrate.run.RunState;
import dev.coatcheck.migrate.run.TableMigration;
import dev.coatcheck.migrate.run.TableMigrations;
import dev.coatcheck.postgres.sql.Database;
import java.io.InputStream;
import java.util.Optional;

/**
 * Gives the rows of a file their keys, for a table on which nothing may be installed: the
 * application mints for new rows, and a file names the old ones. It belongs to a run that was
 * planned, which then can't be started any more.
 */
public final class FileImports {
  private final Database gateway;
  private final TableMigrations migrations;
  private final Registry registry;
  private final TokenSource tokens;
  private final Observer observer;

  public FileImports(
      Database gateway,
      TableMigrations migrations,
      Registry registry,
      TokenSource tokens,
      Observer observer) {
    this.gateway = gateway;
    this.migrations = migrations;
    this.registry = registry;
    this.tokens = tokens;
    this.observer = observer;
  }

  /**
   * As {@link #run(long, RowFormat, InputStream, int, String)}, once if there is an
   * Idempotency-Key.
   *
   * @throws dev.coatcheck.postgres.sql.DatabaseUnavailable if what belongs to the key can't be read
   *     or kept
   */
  public IdempotentResult<FileOutcome> run(
      long id,
      RowFormat format,
      InputStream body,
      int errorsMax,
      String actor,
      Optional<IdempotentFile.Keyed<FileOutcome>> keyed) {
    return IdempotentFile.run(
        gateway,
        keyed,
        body,
        file -> run(id, format, file, errorsMax, actor),
        () -> new FileOutcome.Stopped(false, 0));
  }

  /**
   * Reads the file to its end.
   *
   * @param errorsMax how many refused rows are listed; all are counted
   */
  public FileOutcome run(long id, RowFormat format, InputStream body, int errorsMax, String actor) {
    Optional<TableMigration> found = migrations.find(id);
    if (found.isEmpty()) {
      return new FileOutcome.NotFound();
    }
    TableMigration run = found.get();
    if (run.status().state() != RunState.PLANNED) {
      return new FileOutcome.NotNow(run.status().state());
    }
    Type type = registry.numbered(run.typeNumber()).orElseThrow();
    LegacyKeyTable mappings = new LegacyKeyTable(type, tokens, observer);
    FileOutcome outcome =
        new FileImport(new FileImportStore(gateway, run, type, mappings), errorsMax)
            .run(format, body);
    if (outcome instanceof FileOutcome.Done(RowSummary summary)) {
      migrations.note(
          id,
          actor,
          "import",
          "%d created, %d refused".formatted(summary.created(), summary.refused()));
    }
    return outcome;
  }
}
