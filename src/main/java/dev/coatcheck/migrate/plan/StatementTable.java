package dev.coatcheck.migrate.plan;

import dev.coatcheck.migrate.plan.CalledStatements.Called;
import dev.coatcheck.migrate.plan.RecordedStatements.Recorded;
import dev.coatcheck.migrate.source.CatalogTable;
import dev.coatcheck.migrate.source.SearchPath;
import dev.coatcheck.migrate.source.Source;
import dev.coatcheck.postgres.sql.Database;
import dev.coatcheck.postgres.sql.PlainSql;
import java.util.List;
import java.util.Optional;
import org.jooq.exception.DataAccessException;

/** Reads the statements that {@code pg_stat_statements} has recorded. */
final class StatementTable {
  /** Characters that are read of a text; a text of that length was cut off. */
  static final int TEXT_MAX = 20_000;

  /** The beginning of the statements of {@link KeyNeedTable}, which are recorded too. */
  static final String ASKED = "create function pg_temp.coatcheck_asked() ";

  private static final int STATEMENTS_MAX = 1_000;

  private static final String NOT_INSTALLED =
      "pg_stat_statements is not installed in this database";
  private static final String UNREADABLE = "pg_stat_statements is installed but refuses to be read";
  private static final String ONLY_FREQUENT = "only the " + STATEMENTS_MAX + " most frequent were";

  private static final String EXTENSION =
      """
      select quote_ident(n.nspname)
        from pg_catalog.pg_extension e
        join pg_catalog.pg_namespace n on n.oid = e.extnamespace
       where e.extname = 'pg_stat_statements'\
      """;

  private static final String RECORDED =
      """
      select pg_catalog.left(s.query, <text_max>), pg_catalog.pg_get_userbyid(s.userid)::text,
             coalesce(<path>, ?)
        from <schema>.pg_stat_statements s
       where s.dbid = (select d.oid from pg_catalog.pg_database d
                        where d.datname = pg_catalog.current_database())
         and (exists (select from pg_catalog.unnest(?::text[]) as t (name)
                       where pg_catalog.strpos(pg_catalog.lower(s.query),
                                               pg_catalog.lower(t.name)) > 0)
           or pg_catalog.strpos(pg_catalog.lower(s.query), 'isolation') > 0
           or pg_catalog.strpos(pg_catalog.lower(s.query), 'lastval') > 0)
         and pg_catalog.strpos(s.query, '<asked>') = 0
       order by s.calls desc limit\
      """
          .replace("<text_max>", Integer.toString(TEXT_MAX))
          .replace("<asked>", ASKED)
          .replace("<path>", CatalogTable.pathOf("s.userid"));

  /** Of other roles than ours, because our statements name the columns too. */
  private static final String CALLED =
      """
      select s.queryid::text, pg_catalog.left(pg_catalog.min(s.query), 20000),
             pg_catalog.sum(s.calls)::bigint
        from <schema>.pg_stat_statements s
       where s.dbid = (select d.oid from pg_catalog.pg_database d
                        where d.datname = pg_catalog.current_database())
         and s.userid <> (select r.oid from pg_catalog.pg_roles r where r.rolname = current_user)
         and s.queryid is not null
         and exists (select from pg_catalog.unnest(?::text[]) as t (name)
                      where pg_catalog.strpos(pg_catalog.lower(s.query),
                                              pg_catalog.lower(t.name)) > 0)
       group by 1 order by 3 desc limit\
      """;

  private static final String SEES_OTHERS =
      "select pg_catalog.pg_has_role('pg_read_all_stats', 'usage')";

  private StatementTable() {}

  /**
   * Those of other roles than the source's own that mention one of some tables, with their calls.
   */
  static CalledStatements called(Database database, List<String> tables) {
    Optional<String> schema = schema(database);
    if (schema.isEmpty()) {
      return new CalledStatements(List.of(), Optional.of(NOT_INSTALLED));
    }
    String text = CALLED.replace("<schema>", schema.get()) + " " + (STATEMENTS_MAX + 1);
    try {
      boolean seesOthers = database.read("inspect", sql -> PlainSql.isTrue(sql, SEES_OTHERS));
      List<Called> found =
          database.read(
              "inspect",
              sql ->
                  PlainSql.rows(
                      sql,
                      text,
                      row -> new Called(row.getString(1), row.getString(2), row.getLong(3)),
                      (Object) tables.toArray(String[]::new)));
      Optional<String> whyNot =
          found.size() > STATEMENTS_MAX ? Optional.of(ONLY_FREQUENT) : Optional.<String>empty();
      return new CalledStatements(
          found.subList(0, Math.min(STATEMENTS_MAX, found.size())),
          seesOthers ? whyNot : Optional.of(RecordedStatements.SEES_OWN));
    } catch (DataAccessException refused) {
      return new CalledStatements(List.of(), Optional.of(UNREADABLE));
    }
  }

  /**
   * Those that mention one of some tables, with the search paths of their roles. On a connection of
   * its own, because the answer may be an error.
   */
  static RecordedStatements recorded(Source source, List<String> tables) {
    Database database = source.database();
    Optional<String> schema = schema(database);
    if (schema.isEmpty()) {
      return RecordedStatements.none(NOT_INSTALLED);
    }
    String text = RECORDED.replace("<schema>", schema.get()) + " " + (STATEMENTS_MAX + 1);
    String defaultPath = CatalogTable.defaultPath(database, source.settings());
    try {
      List<Recorded> found =
          database.read(
              "inspect",
              sql ->
                  PlainSql.rows(
                      sql,
                      text,
                      row ->
                          new Recorded(
                              row.getString(1), path(row.getString(3)).of(row.getString(2))),
                      defaultPath,
                      tables.toArray(String[]::new)));
      return new RecordedStatements(
          found.subList(0, Math.min(STATEMENTS_MAX, found.size())),
          found.size() > STATEMENTS_MAX ? Optional.of(ONLY_FREQUENT) : Optional.empty());
    } catch (DataAccessException refused) {
      return RecordedStatements.none(UNREADABLE);
    }
  }

  /** Of the extension that records statements, if it is installed. */
  private static Optional<String> schema(Database database) {
    return database.read("inspect", sql -> PlainSql.first(sql, EXTENSION, row -> row.getString(1)));
  }

  private static SearchPath path(String text) {
    return SearchPath.parse(text).orElse(SearchPath.USUAL);
  }
}
