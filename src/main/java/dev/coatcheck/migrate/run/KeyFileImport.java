package dev.coatcheck.migrate.run;

import dev.coatcheck.bulk.load.ImportAudit;
import dev.coatcheck.bulk.rows.Column;
import dev.coatcheck.bulk.rows.RowError;
import dev.coatcheck.bulk.rows.RowFault;
import dev.coatcheck.bulk.rows.RowFile;
import dev.coatcheck.bulk.rows.RowFormat;
import dev.coatcheck.bulk.rows.RowSummary;
import dev.coatcheck.bulk.rows.RowText;
import dev.coatcheck.bulk.rows.Tally;
import dev.coatcheck.bulk.rows.Timestamps;
import dev.coatcheck.cluster.audit.Actor;
import dev.coatcheck.ids.alias.AliasScheme;
import dev.coatcheck.ids.idempotency.IdempotentFile;
import dev.coatcheck.ids.idempotency.IdempotentResult;
import dev.coatcheck.migrate.relay.GatewayMappings;
import dev.coatcheck.migrate.table.KeyTimes;
import dev.coatcheck.postgres.sql.DatabaseUnavailable;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.BooleanSupplier;

/**
 * Gives the rows of a file their keys, for a table on which nothing may be installed: the
 * application mints for new rows, and a file names the old ones, by rising legacy IDs and with the
 * times of their creation. The file belongs to a planned run, which can't be started afterwards.
 * Mappings and legacy IDs are written here; an export brings the keys back to the table. Sending
 * the file again changes nothing.
 */
public final class KeyFileImport {
  private static final int CHUNK_ROWS = KeyTimes.wholeBlocks(5_000);
  private static final Set<Column> NEEDED = Set.of(Column.LEGACY_ID);

  private final GatewayMappings gateway;
  private final TableMigrations migrations;

  public KeyFileImport(GatewayMappings gateway, TableMigrations migrations) {
    this.gateway = gateway;
    this.migrations = migrations;
  }

  /**
   * As {@link #run(long, RowFormat, InputStream, int, Sender)}, but only once for an
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
      Sender sender,
      Optional<IdempotentFile.Keyed<KeyFileOutcome>> keyed) {
    return IdempotentFile.run(
        gateway.database(),
        keyed,
        body,
        file -> run(id, format, file, errorsMax, sender),
        () -> new KeyFileOutcome.Stopped(KeyFileOutcome.Why.BODY_BROKEN, 0));
  }

  /**
   * Who sends a file.
   *
   * @param mayGoOn whether it still has access; asked before each chunk
   */
  public record Sender(Actor actor, BooleanSupplier mayGoOn) {}

  /** The sender lost its access. */
  private static final class AccessEnded extends RuntimeException {
    AccessEnded() {
      super("access ended", null, false, false);
    }
  }

  /**
   * Reads the file to its end.
   *
   * @param errorsMax how many refused rows are listed; all are counted
   */
  public KeyFileOutcome run(
      long id, RowFormat format, InputStream body, int errorsMax, Sender sender) {
    Optional<TableMigration> found = migrations.journal().find(id);
    if (found.isEmpty()) {
      return new KeyFileOutcome.NotFound();
    }
    TableMigration run = found.get();
    if (run.status().state() != RunState.PLANNED) {
      return new KeyFileOutcome.NotNow(run.status().state());
    }
    if (migrations.journal().isRetired(run.typeNumber())) {
      return new KeyFileOutcome.TypeRetired();
    }
    KeyFileStore store =
        new KeyFileStore(gateway, run, new ImportAudit(sender.actor(), List.of(Long.toString(id))));
    KeyFileOutcome outcome = new Reading(store, sender.mayGoOn(), errorsMax).run(format, body);
    if (outcome instanceof KeyFileOutcome.Done(RowSummary summary)) {
      migrations
          .journal()
          .note(
              id,
              sender.actor().name(),
              "import",
              "%d created, %d refused".formatted(summary.created(), summary.refused()));
    }
    return outcome;
  }

  /**
   * A valid row.
   *
   * @param stated when it was made, in milliseconds since the layout's epoch
   */
  record Row(long line, long legacy, OptionalLong stated) {}

  /** The rows of a file on their way to their keys. */
  private static final class Reading {
    private final KeyFileStore store;
    private final BooleanSupplier mayGoOn;
    private final Tally tally;

    /** By rising legacy ID; the last block of them is there to be looked at. */
    private final List<Row> rows = new ArrayList<>();

    /** Out of order, or unknown to the plan: right only if they have their keys already. */
    private final List<Row> strays = new ArrayList<>();

    private long lastId = Long.MIN_VALUE;

    Reading(KeyFileStore store, BooleanSupplier mayGoOn, int errorsMax) {
      this.store = store;
      this.mayGoOn = mayGoOn;
      this.tally = new Tally(errorsMax);
    }

    KeyFileOutcome run(RowFormat format, InputStream body) {
      try {
        RowFile file;
        switch (RowFile.open(format, body, NEEDED)) {
          case RowFile.Opened.Refused(String detail) -> {
            return new KeyFileOutcome.HeaderRefused(detail);
          }
          case RowFile.Opened.Sound(RowFile sound) -> file = sound;
        }
        RowText text = new RowText();
        while (file.next()) {
          RowFault fault = file.read(text);
          Optional<RowFault> wrong = fault == null ? fault(text) : Optional.of(fault);
          if (wrong.isPresent()) {
            tally.refuse(List.of(new RowError(file.line(), wrong.get())));
          } else {
            take(row(file.line(), text));
          }
        }
        settle(rows.size());
        store.auditFinish(tally.summary(), "done");
      } catch (IOException broken) {
        return stopped(KeyFileOutcome.Why.BODY_BROKEN);
      } catch (DatabaseUnavailable gone) {
        return stopped(KeyFileOutcome.Why.DATABASE_GONE);
      } catch (AccessEnded ended) {
        return stopped(KeyFileOutcome.Why.ACCESS_ENDED);
      }
      return new KeyFileOutcome.Done(tally.summary());
    }

    private KeyFileOutcome stopped(KeyFileOutcome.Why why) {
      try {
        store.auditFinish(tally.summary(), why.name().toLowerCase(Locale.ROOT));
      } catch (DatabaseUnavailable gone) {
        // A start without an end says that the outcome is unknown.
      }
      return new KeyFileOutcome.Stopped(why, tally.linesSettled());
    }

    private void take(Row row) {
      if (row.legacy() > lastId && row.legacy() <= store.highestId()) {
        lastId = row.legacy();
        rows.add(row);
      } else {
        strays.add(row);
      }
      if (rows.size() == CHUNK_ROWS + KeyTimes.BLOCK) {
        settle(CHUNK_ROWS);
      } else if (strays.size() == CHUNK_ROWS) {
        settleStrays();
      }
    }

    /** Gives the first rows their keys. */
    private void settle(int count) {
      settleStrays();
      if (count > 0) {
        requireAccess();
        List<Row> chunk = List.copyOf(rows.subList(0, count));
        OptionalLong[] stated = rows.stream().map(Row::stated).toArray(OptionalLong[]::new);
        KeyFileStore.Settled settled =
            store.settle(
                chunk, KeyTimes.kept(stated, count, store.t0Millis(), lastId == store.highestId()));
        count(settled);
        rows.subList(0, count).clear();
        tally.settle(chunk.getLast().line());
      }
    }

    private void settleStrays() {
      if (!strays.isEmpty()) {
        requireAccess();
        count(store.strays(List.copyOf(strays)));
        strays.clear();
      }
    }

    private void requireAccess() {
      if (!mayGoOn.getAsBoolean()) {
        throw new AccessEnded();
      }
    }

    private void count(KeyFileStore.Settled settled) {
      tally.add(settled.created(), settled.existing());
      tally.refuse(settled.refused());
    }

    private static Optional<RowFault> fault(RowText text) {
      String legacy = text.get(Column.LEGACY_ID);
      String createdAt = text.get(Column.CREATED_AT);
      if (text.get(Column.KEY) != null || text.get(Column.PUBLIC_ID) != null) {
        return Optional.of(RowFault.FIELD_UNKNOWN);
      }
      if (legacy == null) {
        return Optional.of(RowFault.LEGACY_ID_MISSING);
      }
      if (!AliasScheme.LEGACY.accepts(legacy)) {
        return Optional.of(RowFault.LEGACY_ID_MALFORMED);
      }
      return createdAt != null && Timestamps.parse(createdAt).isEmpty()
          ? Optional.of(RowFault.CREATED_AT_MALFORMED)
          : Optional.empty();
    }

    private static Row row(long line, RowText text) {
      OptionalLong stated =
          Optional.ofNullable(text.get(Column.CREATED_AT))
              .flatMap(Timestamps::parse)
              .map(at -> OptionalLong.of(at.toEpochMilli() - KeyFileStore.EPOCH_MILLIS))
              .orElse(OptionalLong.empty());
      return new Row(line, Long.parseLong(String.valueOf(text.get(Column.LEGACY_ID))), stated);
    }
  }
}
