package dev.coatcheck.migrate.plan;

import dev.coatcheck.migrate.plan.RecordedStatements.Recorded;
import dev.coatcheck.migrate.source.SourceSession;
import dev.coatcheck.migrate.source.TableName;
import dev.coatcheck.postgres.connection.SqlState;
import dev.coatcheck.postgres.sql.Database;
import dev.coatcheck.postgres.sql.PlainSql;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.LongSupplier;
import org.jooq.DSLContext;
import org.jooq.exception.DataAccessException;

/**
 * Asks the server which recorded statements need the primary key of a table: GROUP BY it with other
 * columns beside it, ON CONFLICT by its name. Each becomes the body of a function, under the search
 * path of the role that sent it, and the catalog then says on what the function depends. Nothing of
 * it is run or planned, and the transaction is rolled back.
 *
 * <p>A statement locks the tables that it names as it would if it ran; its locks are gone before
 * the next one is asked about.
 */
final class KeyNeedTable {
  /** For all statements; the connection is lent for 10 s. */
  private static final Duration TIME_MAX = Duration.ofSeconds(5);

  private static final int STATEMENTS_MAX = 300;

  /** The timeouts for each statement and for its locks. */
  private static final String BOUND =
      """
      select set_config('statement_timeout', '1s', true),
             set_config('lock_timeout', <lock_timeout>, true),
             set_config('check_function_bodies', 'off', true)\
      """
          .replace("<lock_timeout>", SourceSession.LOCK_TIMEOUT);

  /** An event trigger would run code of others whenever a function is created. */
  private static final String PRIMARY_KEY =
      """
      select k.oid::bigint,
             case when current_setting('transaction_read_only') = 'on'
                  then 'its transactions are read only'
                  when not has_database_privilege(current_database(), 'temp')
                  then 'the source''s user may not create temporary objects; grant temp on the database to it'
                  when not has_language_privilege('sql', 'usage')
                  then 'the source''s user may not use the language sql'
                  when exists (
                    select from pg_event_trigger
                     where evtenabled in ('O', 'A')
                       and evtevent in ('ddl_command_start', 'ddl_command_end')
                       and (evttags is null or 'CREATE FUNCTION' = any (evttags)))
                  then 'an event trigger runs for each function that is created'
             end
        from pg_constraint k
        join pg_class c on c.oid = k.conrelid
        join pg_namespace n on n.oid = c.relnamespace
       where n.nspname = ? and c.relname = ? and k.contype = 'p' and not pg_is_in_recovery()\
      """;

  /** Qualified throughout, because it runs under the search path of an application. */
  private static final String NEEDS =
      """
      select exists (
        select from pg_catalog.pg_depend d
         where d.classid operator(pg_catalog.=) 'pg_catalog.pg_proc'::pg_catalog.regclass
           and d.objid operator(pg_catalog.=) (
                 select p.oid from pg_catalog.pg_proc p
                  where p.pronamespace operator(pg_catalog.=) pg_catalog.pg_my_temp_schema()
                    and p.proname operator(pg_catalog.=) 'coatcheck_asked')
           and d.refclassid
                 operator(pg_catalog.=) 'pg_catalog.pg_constraint'::pg_catalog.regclass
           and d.refobjid operator(pg_catalog.=) ?::pg_catalog.oid)\
      """;

  private final DSLContext sql;
  private final TableName table;
  private final LongSupplier nanoTime;
  private final List<String> notAsked = new ArrayList<>();

  private KeyNeedTable(DSLContext sql, TableName table, LongSupplier nanoTime) {
    this.sql = sql;
    this.table = table;
    this.nanoTime = nanoTime;
  }

  private record Key(long oid, Optional<String> whyNot) {}

  /** The statements with the answers of the server. */
  static RecordedStatements asked(
      Database database, TableName table, RecordedStatements recorded, LongSupplier nanoTime) {
    return recorded.statements().stream().noneMatch(one -> mayNeedKey(one, table))
        ? recorded
        : database.write("ask", sql -> new KeyNeedTable(sql, table, nanoTime).asked(recorded));
  }

  /** Only such a statement can depend on a primary key. */
  private static boolean mayNeedKey(Recorded recorded, TableName table) {
    return SqlToken.of(recorded.text()).stream()
            .anyMatch(token -> token.isName() && token.text().equals(table.table()))
        && SqlToken.of(recorded.text()).stream()
            .anyMatch(token -> token.is("group") || token.is("constraint"));
  }

  private RecordedStatements asked(RecordedStatements recorded) {
    List<Key> keys =
        PlainSql.rows(
            sql,
            PRIMARY_KEY,
            row -> new Key(row.getLong(1), Optional.ofNullable(row.getString(2))),
            table.schema(),
            table.table());
    if (keys.isEmpty()) {
      return recorded;
    }
    PlainSql.rows(sql, BOUND, row -> row.getString(1));
    PlainSql.execute(sql, "savepoint asked");
    long end = nanoTime.getAsLong() + TIME_MAX.toNanos();
    int left = STATEMENTS_MAX;
    List<Recorded> statements = new ArrayList<>();
    for (Recorded one : recorded.statements()) {
      boolean isAsked = mayNeedKey(one, table);
      statements.add(
          isAsked ? asked(one, keys.getFirst(), left > 0 && nanoTime.getAsLong() - end < 0) : one);
      left -= isAsked ? 1 : 0;
    }
    PlainSql.execute(sql, "rollback");
    return new RecordedStatements(statements, recorded.whyNot(), notAsked);
  }

  private Recorded asked(Recorded recorded, Key key, boolean hasTime) {
    if (key.whyNot().isPresent()) {
      return notAsked(recorded, key.whyNot().get());
    }
    if (!hasTime) {
      return notAsked(recorded, "there was no time left");
    }
    List<SqlStatement> parts = SqlStatement.all(recorded.text());
    boolean isWhole = parts.size() == 1 && recorded.text().length() < StatementTable.TEXT_MAX;
    String why = "it is no query, or not a whole one";
    for (String query : isWhole ? AskedQuery.of(parts.getFirst()) : List.<String>of()) {
      try {
        PlainSql.execute(sql, created(recorded, query));
        boolean needsKey = PlainSql.isTrue(sql, NEEDS, key.oid());
        return new Recorded(recorded.text(), recorded.path(), Optional.of(needsKey));
      } catch (DataAccessException refused) {
        if (!SqlState.isAnswer(refused)) {
          throw refused;
        }
        why = SqlState.words(refused).orElse("");
      } finally {
        PlainSql.execute(sql, "rollback to savepoint asked");
      }
    }
    return notAsked(recorded, why);
  }

  private static String created(Recorded recorded, String query) {
    return "set local search_path = %s; %sreturns pg_catalog.void language sql begin atomic %s; end"
        .formatted(recorded.path().text(), StatementTable.ASKED, query);
  }

  private Recorded notAsked(Recorded recorded, String why) {
    notAsked.add(Preconditions.excerpt(recorded.text()) + " (" + why + ")");
    return recorded;
  }
}
