package dev.coatcheck.migrate.table;

import dev.coatcheck.migrate.source.Child;
import dev.coatcheck.migrate.source.SourceSession;
import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.postgres.connection.SqlState;
import dev.coatcheck.postgres.session.LockWait.BlockingSession;
import dev.coatcheck.postgres.session.Session;
import dev.coatcheck.postgres.sql.PlainSql;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.jooq.exception.DataAccessException;

/** Sends the statements that change a table, and reads which sessions hold locks on it. */
final class DdlStore {
  /** A client that stops between two statements must not keep the locks for long. */
  private static final String BOUND =
      """
      select set_config('lock_timeout', <lock_timeout>, true),
             set_config('statement_timeout', '0', true),
             set_config('standard_conforming_strings', 'on', true),
             set_config('idle_in_transaction_session_timeout', '1000', true)\
      """
          .replace("<lock_timeout>", SourceSession.LOCK_TIMEOUT);

  private static final String INDEX =
      """
      select i.indisvalid and i.indisready and i.indisunique = ? and i.indpred is null
             and i.indexprs is null and i.indnkeyatts = 1
        from pg_index i join pg_class c on c.oid = i.indexrelid
       where i.indrelid = ?::oid and (c.relname = ? or exists (
         select from pg_inherits h join pg_class w on w.oid = h.inhparent
          where h.inhrelid = c.oid and w.relname = ?))
       order by c.relname = ? limit 1\
      """;

  private static final String BLOCKERS =
      """
      with held as (
        select l.pid, l.virtualtransaction from pg_locks l
         where l.relation = any (?::oid[]) and l.granted and l.mode = any (?)
           and l.database = (select oid from pg_database where datname = current_database()))
      select a.pid, a.usename,
             coalesce(nullif(a.application_name, ''), nullif(a.backend_type, 'client backend')),
             a.state, coalesce(a.xact_start, a.backend_start)
        from pg_stat_activity a
       where a.pid <> pg_backend_pid() and a.pid in (select pid from held)
      union all
      select 0, x.owner, 'prepared transaction ' || quote_literal(x.gid), 'prepared', x.prepared
        from pg_prepared_xacts x
       where x.transaction in (
         select t.transactionid from pg_locks t
          where t.locktype = 'transactionid' and t.pid is null and t.granted
            and t.virtualtransaction in (select virtualtransaction from held where pid is null))
       order by 5 nulls last limit 5\
      """;

  private final Session session;

  /** The tables that the steps lock, with the partitions that have rows. */
  private final Long[] tables;

  DdlStore(Session session, Target target) {
    this.session = session;
    this.tables =
        Stream.concat(
                Stream.of(target.oid()), target.children().stream().flatMap(DdlStore::relations))
            .toArray(Long[]::new);
  }

  private static Stream<Long> relations(Child child) {
    return Stream.concat(Stream.of(child.oid()), child.leaves().stream().map(Child.Leaf::oid));
  }

  enum IndexState {
    MISSING,
    /** Left behind by a failed build, or different from our index. */
    INVALID,
    VALID
  }

  boolean isTrue(String query) {
    return session.transaction("check", sql -> PlainSql.isTrue(sql, query));
  }

  /** A row without a key prevents a check on the table. */
  static final class RowWithoutKey extends RuntimeException {
    private RowWithoutKey(Throwable cause) {
      super("a row has no key", cause);
    }
  }

  /** A precondition of a step is not met; the message says which one. */
  static final class Refused extends RuntimeException {
    private Refused(String message, Throwable cause) {
      super(message, cause);
    }
  }

  /**
   * Runs all statements in one transaction.
   *
   * @return how long it blocked writers; empty if no statement locks a table of the application
   * @throws RowWithoutKey if a row without a key is the reason of a refusal
   * @throws Refused if a statement itself refuses
   */
  Optional<LockTime> run(String operation, List<String> statements) {
    LockTime.Watch watch = new LockTime.Watch();
    try {
      session.longTransaction(
          operation,
          sql -> {
            PlainSql.execute(sql, BOUND);
            statements.forEach(
                statement -> watch.during(statement, () -> PlainSql.execute(sql, statement)));
            return true;
          });
      return watch.ended();
    } catch (DataAccessException refused) {
      if (SqlState.isStepRefused(refused)) {
        throw new Refused(SqlState.words(refused).orElseThrow(), refused);
      }
      throw SqlState.isRowWithoutKey(refused) ? new RowWithoutKey(refused) : refused;
    }
  }

  List<String> texts(String query) {
    return session.transaction("check", sql -> PlainSql.rows(sql, query, row -> row.getString(1)));
  }

  void alone(String operation, String statement) {
    session.alone(operation, statement);
  }

  IndexState state(Step.Index index) {
    return session.transaction(
        "check",
        sql ->
            PlainSql.first(
                    sql,
                    INDEX,
                    row -> row.getBoolean(1),
                    index.isUnique(),
                    index.table(),
                    index.index(),
                    index.whole(),
                    index.whole())
                .map(valid -> valid ? IndexState.VALID : IndexState.INVALID)
                .orElse(IndexState.MISSING));
  }

  List<Long> ids(String operation, String query, Object... values) {
    return session.longTransaction(
        operation,
        sql -> {
          PlainSql.execute(sql, "select set_config('row_security', 'off', true)");
          return PlainSql.rows(sql, query, row -> row.getLong(1), values);
        });
  }

  List<BlockingSession> blockers(List<String> modes) {
    return session.transaction(
        "blockers",
        sql ->
            PlainSql.rows(sql, BLOCKERS, DdlStore::blocker, tables, modes.toArray(String[]::new)));
  }

  private static BlockingSession blocker(ResultSet row) throws SQLException {
    OffsetDateTime since = row.getObject(5, OffsetDateTime.class);
    return new BlockingSession(
        row.getInt(1),
        row.getString(2),
        row.getString(3),
        row.getString(4),
        since == null ? null : since.toInstant());
  }
}
