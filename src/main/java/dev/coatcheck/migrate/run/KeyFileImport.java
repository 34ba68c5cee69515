package dev.coatcheck.migrate.run;

import dev.coatcheck.bulk.rows.RowFormat;
import dev.coatcheck.bulk.rows.RowSummary;
import dev.coatcheck.ids.idempotency.IdempotentFile;
import dev.coatcheck.ids.idempotency.IdempotentResult;
import dev.coatcheck.migrate.relay.GatewayMappings;
import java.io.InputStream;
import java.util.Optional;

/**
 * Gives the rows of a file their keys, for a table on which nothing may be installed: the
 * application mints for new rows, and a file names the old ones. It belongs to a run that was
 * planned, which then can't be started any more.
 */
public final class KeyFileImport {
  private final GatewayMappings gateway;
  private final TableMigrations migrations;

  public KeyFileImport(GatewayMappings gateway, TableMigrations migrations) {
    this.gateway = gateway;
    this.migrations = migrations;
  }

  /**
   * As {@link #run(long, RowFormat, InputStream, int, String)}, once if there is an
   * Idempotency-Key.
   *
   * @throws dev.coatcheck.postgres.sql.DatabaseUnavailable if what belongs to the key can't be read
   *     or kept
   */
  public IdempotentResult<KeyFileOutcome> run(
      long id,
      RowFormat format,
      InputStream body,
      int errorsMax,
      String actor,
      Optional<IdempotentFile.Keyed<KeyFileOutcome>> keyed) {
    return IdempotentFile.run(
        gateway.database(),
        keyed,
        body,
        file -> run(id, format, file, errorsMax, actor),
        () -> new KeyFileOutcome.Stopped(false, 0));
  }

  /**
   * Reads the file to its end.
   *
   * @param errorsMax how many refused rows are listed; all are counted
   */
  public KeyFileOutcome run(long id, RowFormat format, InputStream body, int errorsMax, String actor) {
    Optional<TableMigration> found = migrations.journal().find(id);
    if (found.isEmpty()) {
      return new KeyFileOutcome.NotFound();
    }
    TableMigration run = found.get();
    if (run.status().state() != RunState.PLANNED) {
      return new KeyFileOutcome.NotNow(run.status().state());
    }
    KeyFileOutcome outcome =
        new KeyFileReader(new KeyFileStore(gateway, run), errorsMax).run(format, body);
    if (outcome instanceof KeyFileOutcome.Done(RowSummary summary)) {
      migrations
          .journal()
          .note(
              id,
              actor,
              "import",
              "%d created, %d refused".formatted(summary.created(), summary.refused()));
    }
    return outcome;
  }
}
