package dev.coatcheck.migrate.steps;

import dev.coatcheck.migrate.backfill.RowKeyTable;
import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.migrate.source.TargetSql;
import dev.coatcheck.postgres.sql.PlainSql;
import dev.coatcheck.postgres.sql.Session;
import java.util.List;
import java.util.Optional;
import org.jooq.exception.DataAccessException;

/** Sends statements in a transaction that is rolled back. */
final class TrialStore {
  /** Writers wait meanwhile. */
  static final int STATEMENT_MILLIS_MAX = 2_000;

  private static final String BOUND =
      """
      select set_config('lock_timeout',
                        least(500, greatest(1, setting::int / 2)) || 'ms', true),
             set_config('statement_timeout', ?, true)
        from pg_settings where name = 'deadlock_timeout'\
      """;

  private static final String NEWEST =
      "select t.<id>::bigint from <table> t order by t.<id> desc limit 1";

  /** No backfill gives it: every key is above every legacy ID. */
  private static final long KEY = 0;

  private final Session session;
  private final TargetSql names;

  TrialStore(Session session, Target target) {
    this.session = session;
    this.names = new TargetSql(target);
  }

  /** The transaction did all that it should, and is not to be committed. */
  private static final class RolledBack extends RuntimeException {
    private static final long serialVersionUID = 1L;

    RolledBack() {
      super("rolled back", null, false, false);
    }
  }

  /**
   * Runs them, and updates the newest row.
   *
   * @return what Postgres said against it
   * @throws dev.coatcheck.postgres.sql.LockTimeout if others hold the table
   */
  Optional<String> run(List<String> statements) {
    try {
      return session.transaction(
          "trial",
          sql -> {
            PlainSql.execute(sql, BOUND, STATEMENT_MILLIS_MAX + "ms");
            Optional<Long> row =
                PlainSql.rows(sql, names.fill(NEWEST), r -> r.getLong(1)).stream().findFirst();
            statements.forEach(statement -> PlainSql.execute(sql, statement));
            row.ifPresent(
                id ->
                    PlainSql.rows(
                        sql,
                        names.fill(RowKeyTable.CALL),
                        r -> r.getLong(1),
                        new Long[] {id},
                        new Long[] {KEY}));
            throw new RolledBack();
          });
    } catch (RolledBack done) {
      return Optional.empty();
    } catch (DataAccessException refused) {
      return Optional.of(firstLine(refused));
    }
  }

  /** The words of Postgres, without where it came from in our functions. */
  private static String firstLine(Throwable thrown) {
    Throwable root = thrown;
    while (root.getCause() != null) {
      root = root.getCause();
    }
    return String.valueOf(root.getMessage()).lines().findFirst().orElse("") + ".";
  }
}
