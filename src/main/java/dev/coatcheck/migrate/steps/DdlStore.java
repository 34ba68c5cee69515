package dev.coatcheck.migrate.steps;

import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.migrate.source.TargetSql;
import dev.coatcheck.postgres.sql.PlainSql;
import dev.coatcheck.postgres.sql.Session;
import java.util.List;

/** Sends changes of a table. */
final class DdlStore {
  private static final String BOUND =
      """
      select set_config('lock_timeout',
                        least(500, greatest(1, setting::int / 2)) || 'ms', true),
             set_config('statement_timeout', '0', true)
        from pg_settings where name = 'deadlock_timeout'\
      """;

  private static final String INDEX =
      """
      select i.indisvalid and i.indisready and i.indisunique and i.indpred is null
             and i.indexprs is null and i.indnkeyatts = 1 and i.indnatts = 1
        from pg_index i join pg_class c on c.oid = i.indexrelid
       where i.indrelid = <oid>::oid and c.relname = ?\
      """;

  private static final String BLOCKERS =
      """
      select 'process ' || a.pid || ', ' || coalesce(a.state, 'working') || ' for '
             || extract(epoch from clock_timestamp() - coalesce(a.xact_start, a.backend_start))::int
             || ' s' || case when a.application_name = '' then ''
                             else ', ' || a.application_name end
        from pg_locks l join pg_stat_activity a on a.pid = l.pid
       where l.relation = <oid>::oid and l.granted and l.pid <> pg_backend_pid()
         and l.database = (select oid from pg_database where datname = current_database())
       group by a.pid, a.state, a.xact_start, a.backend_start, a.application_name
       order by a.xact_start limit 5\
      """;

  private final Session session;
  private final TargetSql names;

  DdlStore(Session session, Target target) {
    this.session = session;
    this.names = new TargetSql(target);
  }

  enum IndexState {
    MISSING,
    /** Left behind by a build that failed, or not what we would build. */
    INVALID,
    VALID
  }

  boolean isTrue(String query) {
    return session.transaction("check", sql -> PlainSql.isTrue(sql, query));
  }

  /** All of them in one transaction. */
  void run(String operation, List<String> statements) {
    session.longTransaction(
        operation,
        sql -> {
          PlainSql.execute(sql, BOUND);
          statements.forEach(statement -> PlainSql.execute(sql, statement));
          return true;
        });
  }

  void alone(String operation, String statement) {
    session.alone(operation, statement);
  }

  IndexState index(String name) {
    return session.transaction(
        "check",
        sql ->
            PlainSql.rows(sql, names.fill(INDEX), row -> row.getBoolean(1), name).stream()
                .findFirst()
                .map(valid -> valid ? IndexState.VALID : IndexState.INVALID)
                .orElse(IndexState.MISSING));
  }

  List<String> blockers() {
    return session.transaction(
        "blockers", sql -> PlainSql.rows(sql, names.fill(BLOCKERS), row -> row.getString(1)));
  }
}
