package dev.coatcheck.migrate.run;

import dev.coatcheck.core.observe.Event;
import dev.coatcheck.core.observe.RootCause;
import dev.coatcheck.migrate.relay.GatewayMappings;
import dev.coatcheck.migrate.run.Heartbeat.Stopped;
import dev.coatcheck.migrate.source.FenceLost;
import dev.coatcheck.migrate.source.ObjectsGone;
import dev.coatcheck.migrate.source.Source;
import dev.coatcheck.migrate.source.SourceSession;
import dev.coatcheck.postgres.connection.SqlState;
import dev.coatcheck.postgres.sql.DatabaseUnavailable;
import dev.coatcheck.postgres.sql.LockTimeout;
import dev.coatcheck.postgres.sql.StatementTimeout;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * Executes one run while this instance has its lease: connects to the source, again if the source
 * was away, and lets a {@link RunExecutor} do the steps.
 */
final class Runner {
  private static final long RECONNECT_MILLIS = 1_000;

  /** The run's table, or one that joined it by a foreign key, without the rights of its owner. */
  private static final Pattern NOT_OURS =
      Pattern.compile("(permission denied for|must be owner of) table ");

  private final JournalTable journal;
  private final GatewayMappings gateway;
  private final Source source;
  private final Heartbeat heartbeat;

  private final TableMigration run;

  Runner(
      JournalTable journal,
      GatewayMappings gateway,
      Source source,
      TableMigration run,
      Heartbeat heartbeat) {
    this.journal = journal;
    this.gateway = gateway;
    this.source = source;
    this.run = run;
    this.heartbeat = heartbeat;
  }

  /** Until the goal is reached, or this instance loses the run. */
  void run() {
    while (true) {
      RunExecutor executor = new RunExecutor(journal, gateway, source, run, heartbeat);
      try (SourceSession session =
          SourceSession.open(
              source.settings(),
              source.timeouts(),
              run.target(),
              heartbeat.claim().fence(),
              heartbeat::waitsFor)) {
        heartbeat.because(Optional.empty());
        executor.go(session);
        return;
      } catch (FenceLost | Stopped over) {
        return;
      } catch (ObjectsGone gone) {
        executor.fail(String.valueOf(gone.getMessage()));
        return;
      } catch (DatabaseUnavailable gone) {
        if (!waitForSource(gone)) {
          return;
        }
      } catch (RuntimeException refused) {
        if (executor.isOvertaken()) {
          continue;
        }
        gateway.observer().observe(new Event.BackgroundFailed("table-migration-run", refused));
        executor.fail(reason(refused, executor.isUndoing()));
        return;
      }
    }
  }

  /** Postgres itself would advise to drop the objects of others with ours. */
  private static String reason(RuntimeException refused, boolean isUndo) {
    String again = isUndo ? "; then undo again." : "; then retry.";
    if (SqlState.isDependedOn(refused)) {
      return "%s. Drop or change what depends on it%s"
          .formatted(SqlState.wordsWithoutHint(refused).orElseThrow(), again);
    }
    String words = RootCause.words(refused);
    return SqlState.isDenied(refused) && NOT_OURS.matcher(words).find()
        ? words
            + ". Give the source's user the rights of its owner; where it refers to the table of"
            + " the run, you can also drop its foreign key"
            + again
        : words;
  }

  private static String reason(DatabaseUnavailable gone) {
    return switch (gone) {
      case LockTimeout _ -> "another session holds the table";
      case StatementTimeout _ -> "a statement took too long or was cancelled";
      default ->
          SqlState.isReadOnly(gone)
              ? "the source lets its user only read"
              : "the source can't be reached";
    };
  }

  private boolean waitForSource(DatabaseUnavailable gone) {
    String why = reason(gone) + ", trying again: " + RootCause.words(gone);
    if (heartbeat.because(Optional.of(why))) {
      journal.event(run, "waiting", why);
    }
    try {
      heartbeat.pause(RECONNECT_MILLIS);
      return true;
    } catch (Stopped over) {
      return false;
    }
  }
}
