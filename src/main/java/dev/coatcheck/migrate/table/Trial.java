package dev.coatcheck.migrate.table;

import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.postgres.connection.DatabaseSettings;
import dev.coatcheck.postgres.connection.RootCause;
import dev.coatcheck.postgres.connection.SqlState;
import dev.coatcheck.postgres.session.Session;
import dev.coatcheck.postgres.sql.DatabaseUnavailable;
import dev.coatcheck.postgres.sql.LockTimeout;
import dev.coatcheck.postgres.sql.StatementTimeout;
import java.util.List;
import java.util.Optional;

/**
 * Tries the first steps of a run on a few rows and rolls them back. So a trigger, a check or an
 * index function that refuses the new column is found before the application is affected.
 */
public final class Trial {
  private static final int TRIES_MAX = 5;

  private Trial() {}

  /**
   * Why the trial failed; empty if it succeeded, or if others held the table all the time.
   *
   * @throws dev.coatcheck.postgres.sql.DatabaseUnavailable if the source is unavailable
   */
  public static Optional<String> of(DatabaseSettings settings, Target target) {
    List<String> statements =
        Steps.of(target).stream()
            .filter(step -> step.phase() == Phase.EXPAND)
            .flatMap(step -> step.statements().stream())
            .toList();
    try (Session session = Session.open(settings, "coatcheck start")) {
      TrialStore store = new TrialStore(session, target);
      for (int tried = 0; tried < TRIES_MAX; tried++) {
        try {
          return store.run(statements);
        } catch (LockTimeout held) {
          // The run itself tries for longer, and names the blocking sessions.
        } catch (StatementTimeout slow) {
          return Optional.of("a statement took over " + TrialStore.STATEMENT_MILLIS_MAX + " ms.");
        }
      }
      return Optional.empty();
    } catch (DatabaseUnavailable refused) {
      if (SqlState.isReadOnly(refused)) {
        return Optional.of(RootCause.words(refused) + ".");
      }
      throw refused;
    }
  }
}
