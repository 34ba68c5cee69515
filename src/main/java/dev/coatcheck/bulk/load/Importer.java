package dev.coatcheck.bulk.load;

import dev.coatcheck.bulk.rows.Column;
import dev.coatcheck.bulk.rows.RowFile;
import dev.coatcheck.bulk.rows.RowFormat;
import dev.coatcheck.bulk.rows.Tally;
import dev.coatcheck.cluster.audit.Actor;
import dev.coatcheck.core.id.TokenSource;
import dev.coatcheck.core.key.DatedKeyGenerator;
import dev.coatcheck.core.key.KeyGenerator;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.ids.access.Caller;
import dev.coatcheck.ids.idempotency.IdempotentFile;
import dev.coatcheck.ids.idempotency.IdempotentResult;
import dev.coatcheck.ids.registry.Registry;
import dev.coatcheck.ids.registry.Type;
import dev.coatcheck.postgres.connection.DatabaseSettings;
import dev.coatcheck.postgres.sql.Database;
import dev.coatcheck.postgres.sql.DatabaseUnavailable;
import java.io.IOException;
import java.io.InputStream;
import java.time.InstantSource;
import java.util.Optional;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.Function;

/**
 * Imports mappings from a stream of any length in bounded memory: it reads at most two chunks ahead
 * of the last commit, which slows the sender to the speed of Postgres.
 *
 * <p>Existing rows that agree with the file are left alone, so a file can be sent again any number
 * of times. A refused row is reported, and the others are imported.
 */
public final class Importer {
  private final Database database;
  private final DatabaseSettings settings;
  private final Registry registry;
  private final MintingTools tools;
  private final InstantSource clock;

  /**
   * The sources of tokens and keys, and the observer of mints.
   *
   * @param datedKeys of a type, for rows that say when they were created; empty where such rows get
   *     keys of the present
   */
  public record MintingTools(
      TokenSource tokens,
      Function<Type, KeyGenerator> keys,
      Function<Type, Optional<DatedKeyGenerator>> datedKeys,
      Observer observer) {}

  /**
   * Who sends a file.
   *
   * @param caller the owner of client IDs whose row names no other
   * @param mayImport whether it still has access; asked before each chunk
   */
  public record Sender(Caller caller, Actor actor, BooleanSupplier mayImport) {}

  public Importer(
      Database database,
      DatabaseSettings settings,
      Registry registry,
      MintingTools tools,
      InstantSource clock) {
    this.database = database;
    this.settings = settings;
    this.registry = registry;
    this.tools = tools;
    this.clock = clock;
  }

  /**
   * As {@link #run(RowFormat, InputStream, Sender, int)}, but only once for an Idempotency-Key.
   *
   * @throws DatabaseUnavailable if what belongs to the key can't be read or kept
   */
  public IdempotentResult<ImportOutcome> run(
      RowFormat format,
      InputStream body,
      Sender sender,
      int errorsMax,
      Optional<IdempotentFile.Keyed<ImportOutcome>> keyed) {
    return IdempotentFile.run(
        database,
        keyed,
        body,
        file -> run(format, file, sender, errorsMax),
        () -> new ImportOutcome.Stopped(new ImportOutcome.Reason.BodyBroken(), 0));
  }

  /**
   * Reads the stream to its end and inserts what it holds.
   *
   * @param errorsMax how many refused rows are listed; all are counted
   */
  public ImportOutcome run(RowFormat format, InputStream body, Sender sender, int errorsMax) {
    try {
      return switch (RowFile.open(format, body, Set.of(Column.TYPE))) {
        case RowFile.Opened.Refused(String detail) -> new ImportOutcome.HeaderRefused(detail);
        case RowFile.Opened.Sound(RowFile file) -> run(file, sender, errorsMax);
      };
    } catch (IOException broken) {
      return new ImportOutcome.Stopped(new ImportOutcome.Reason.BodyBroken(), 0);
    }
  }

  private ImportOutcome run(RowFile file, Sender sender, int errorsMax) {
    Tally tally = new Tally(errorsMax);
    ImportAudit audit = ImportAudit.of(sender.actor());
    try (ImportStore store = new ImportStore(settings, tools.observer(), audit)) {
      Optional<ImportOutcome.Reason> stopped =
          copy(file, sender, new ChunkWriter(store, registry, tools, tally, sender.mayImport()));
      return stopped
          .or(() -> finished(store, tally, "done"))
          .<ImportOutcome>map(
              reason -> {
                Optional<ImportOutcome.Reason> _ = finished(store, tally, word(reason));
                return new ImportOutcome.Stopped(reason, tally.linesSettled());
              })
          .orElseGet(() -> new ImportOutcome.Done(tally.summary()));
    }
  }

  /** Audits the end. Returns why it could not; then the sender learns that it stopped early. */
  private static Optional<ImportOutcome.Reason> finished(
      ImportStore store, Tally tally, String outcome) {
    try {
      store.auditFinish(tally.summary(), outcome);
      return Optional.empty();
    } catch (DatabaseUnavailable gone) {
      return Optional.of(new ImportOutcome.Reason.DatabaseGone());
    }
  }

  private static String word(ImportOutcome.Reason reason) {
    return switch (reason) {
      case ImportOutcome.Reason.BodyBroken _ -> "body_broken";
      case ImportOutcome.Reason.DatabaseGone _ -> "database_gone";
      case ImportOutcome.Reason.AccessEnded _ -> "access_ended";
      case ImportOutcome.Reason.KeysUnavailable _ -> "keys_unavailable";
      case ImportOutcome.Reason.SealKeyMissing _ -> "seal_key_missing";
    };
  }

  /** Returns why it stopped early; empty if it did not. */
  private Optional<ImportOutcome.Reason> copy(RowFile file, Sender sender, ChunkWriter writer) {
    RowParser parser = new RowParser(registry, sender.caller(), clock);
    try (writer) {
      try {
        for (Chunk chunk = Chunk.read(file, parser);
            chunk.size() > 0;
            chunk = Chunk.read(file, parser)) {
          Optional<ImportOutcome.Reason> failed = writer.write(chunk);
          if (failed.isPresent()) {
            return failed;
          }
        }
      } catch (IOException broken) {
        // Why the chunk before wasn't committed says more: it may have been.
        return writer.finish().or(() -> Optional.of(new ImportOutcome.Reason.BodyBroken()));
      }
      return writer.finish();
    } catch (DatabaseUnavailable gone) {
      return Optional.of(new ImportOutcome.Reason.DatabaseGone());
    }
  }
}
