package dev.coatcheck.migrate.table;

import dev.coatcheck.core.observe.RootCause;
import dev.coatcheck.migrate.source.SourceSession;
import dev.coatcheck.migrate.source.SqlTemplate;
import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.migrate.source.TargetSql;
import dev.coatcheck.postgres.connection.DatabaseSettings;
import dev.coatcheck.postgres.connection.SqlState;
import dev.coatcheck.postgres.session.Session;
import dev.coatcheck.postgres.sql.DatabaseUnavailable;
import dev.coatcheck.postgres.sql.LockTimeout;
import dev.coatcheck.postgres.sql.PlainSql;
import dev.coatcheck.postgres.sql.StatementTimeout;
import java.util.List;
import java.util.Optional;
import org.jooq.DSLContext;
import org.jooq.exception.DataAccessException;

/**
 * Tries the first steps of a run on a few rows and rolls them back, so that a trigger, check or
 * index function that refuses the new column is known before the application meets it.
 */
public final class TrialTable {
  private static final int TRIES_MAX = 5;

  /** Writers wait meanwhile. */
  private static final int STATEMENT_MILLIS_MAX = 2_000;

  private static final String BOUND =
      """
      select set_config('lock_timeout', <lock_timeout>, true),
             set_config('statement_timeout', ?, true)\
      """
          .replace("<lock_timeout>", SourceSession.LOCK_TIMEOUT);

  private static final SqlTemplate ROWS = SqlTemplate.file(TrialTable.class, "trial-rows.sql");

  /** A key that no backfill generates, because every key is above every legacy ID. */
  private static final long KEY = 0;

  private final Session session;
  private final TargetSql names;

  private TrialTable(Session session, Target target) {
    this.session = session;
    this.names = new TargetSql(target);
  }

  /** Why it failed; empty if it didn't, or if others held the table all the time. */
  public static Optional<String> of(DatabaseSettings settings, Target target) {
    List<String> statements = Steps.ofTrial(target);
    try (Session session = Session.open(settings, "coatcheck start")) {
      TrialTable trial = new TrialTable(session, target);
      for (int tried = 0; tried < TRIES_MAX; tried++) {
        try {
          return trial.run(statements);
        } catch (LockTimeout held) {
          // The run itself tries for longer, and names who holds it.
        } catch (StatementTimeout slow) {
          return Optional.of("a statement took over " + STATEMENT_MILLIS_MAX + " ms.");
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

  /** The transaction succeeded and is rolled back on purpose. */
  private static final class RolledBack extends RuntimeException {
    RolledBack() {
      super("rolled back", null, false, false);
    }
  }

  /**
   * Runs the statements, then updates a row. A table that refuses the oldest row may accept the
   * newest one; then the run will set refused rows aside.
   *
   * @return the error of Postgres, if the table accepted no row
   * @throws LockTimeout if others hold the table
   */
  private Optional<String> run(List<String> statements) {
    try {
      return session.transaction(
          "trial",
          sql -> {
            PlainSql.execute(sql, BOUND, STATEMENT_MILLIS_MAX + "ms");
            List<Long> rows = PlainSql.rows(sql, names.fill(ROWS), row -> row.getLong(1));
            statements.forEach(statement -> PlainSql.execute(sql, statement));
            updateOne(sql, rows);
            throw new RolledBack();
          });
    } catch (RolledBack done) {
      return Optional.empty();
    } catch (DataAccessException refused) {
      return Optional.of(firstLine(refused));
    }
  }

  private void updateOne(DSLContext sql, List<Long> rows) {
    for (int i = 0; i < rows.size(); i++) {
      Long[] id = {rows.get(i)};
      try {
        sql.transaction(
            savepoint ->
                PlainSql.rows(
                    savepoint.dsl(),
                    names.fill(BatchTable.CALL),
                    row -> row.getLong(1),
                    id,
                    new Long[] {KEY}));
        return;
      } catch (DataAccessException refused) {
        // If one row takes too long, the next one would too, and writers wait meanwhile.
        if (i == rows.size() - 1 || SqlState.isCancelled(refused)) {
          throw refused;
        }
      }
    }
  }

  /** The message of Postgres, without the position in our functions where the error was raised. */
  private static String firstLine(Throwable thrown) {
    return RootCause.message(thrown).lines().findFirst().orElse("") + ".";
  }
}
