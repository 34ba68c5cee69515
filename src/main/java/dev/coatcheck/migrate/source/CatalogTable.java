package dev.coatcheck.migrate.source;

import dev.coatcheck.postgres.connection.DatabaseSettings;
import dev.coatcheck.postgres.session.Session;
import dev.coatcheck.postgres.sql.Database;
import dev.coatcheck.postgres.sql.PlainSql;
import java.util.List;
import java.util.Optional;
import org.jooq.DSLContext;

/** Finds a table by its OID and its columns by their numbers, which stay when names change. */
public final class CatalogTable {
  private static final String NOW =
      """
      select n.nspname::text, c.relname::text, k.attname::text, t.attname::text
        from pg_class c
        join pg_namespace n on n.oid = c.relnamespace
        join pg_attribute k on k.attrelid = c.oid and k.attnum = ? and not k.attisdropped
        left join pg_attribute t on t.attrelid = c.oid and t.attnum = ? and t.attnum > 0
         and not t.attisdropped
       where c.oid = ?::oid and c.relkind = 'r'\
      """;

  private static final String KEY_ATTNUM =
      """
      coalesce(
        (select g.tgattr[0] from pg_trigger g
          where g.tgrelid = <relation> and g.tgname = '<trigger>'),
        (select i.indkey[0] from pg_index i
          where i.indrelid = <relation> and i.indisprimary and i.indnkeyatts = 1))\
      """
          .replace("<trigger>", TargetSql.TRIGGER_START + "update");

  private static final String CONTRACTED =
      """
      select n.nspname::text, c.relname::text, k.attname::text
        from pg_class c
        join pg_namespace n on n.oid = c.relnamespace
        join pg_attribute k on k.attrelid = c.oid and k.attnum = <key_attnum>
       where c.oid = ?::oid and c.relkind = 'r'\
      """
          .replace("<key_attnum>", keyAttnum("c.oid"));

  private static final String ANCHORS =
      """
      select n.nspname::text, c.relname::text, k.attnum::int, coalesce(t.attnum, 0)::int
        from pg_class c
        join pg_namespace n on n.oid = c.relnamespace
        join pg_attribute k on k.attrelid = c.oid and k.attname = ?
        left join pg_attribute t on t.attrelid = c.oid and t.attname = ?
       where c.oid = ?::oid\
      """;

  private static final String REMEMBERS =
      """
      select coalesce(has_schema_privilege(to_regnamespace('<schema>'), 'usage')
               and has_table_privilege(to_regclass('<schema>.known_table'), 'select'), false)\
      """
          .replace("<schema>", ObjectNames.SCHEMA);

  private static final String FIRST_NAME =
      "select first_schema, first_name from "
          + ObjectNames.SCHEMA
          + ".known_table"
          + " where relation = ?::oid";

  private static final String IS_ANOTHERS =
      """
      select exists (
        select from <schema>.known_table k join pg_class c on c.oid = k.relation
         where k.first_schema = ? and k.first_name = ? and c.oid <> ?::oid)\
      """
          .replace("<schema>", ObjectNames.SCHEMA);

  /** The settings of a role, of the database, or of both; the most specific one applies. */
  private static final String PATH_OF =
      """
      (select substr(c.setting, strpos(c.setting, '=') + 1)
         from pg_db_role_setting g cross join unnest(g.setconfig) as c (setting)
        where g.setrole in (0, <role>)
          and g.setdatabase in (0, (select oid from pg_database where datname = current_database()))
          and starts_with(c.setting, 'search_path=')
        order by g.setrole = 0, g.setdatabase = 0 limit 1)\
      """;

  private static final String OWNERS_PATH =
      "select coalesce(<path>, ?) from pg_class t where t.oid = ?::oid"
          .replace("<path>", pathOf("t.relowner"));

  private static final String HAS_PATH =
      """
      select exists (
        select from pg_db_role_setting s cross join unnest(s.setconfig) as c (setting)
         where pg_get_userbyid(s.setrole) = session_user
           and starts_with(c.setting, 'search_path='))\
      """;

  private CatalogTable() {}

  /** The identifiers by which a table is found later. */
  public static Target.Anchors anchors(
      Database source, long oid, String keyColumn, Optional<Target.TimeColumn> createdAt) {
    return source.read("anchors", sql -> anchors(sql, oid, keyColumn, createdAt));
  }

  /**
   * An SQL expression for the search path with which a role's sessions start, from the settings of
   * the role and the database; null if there are none.
   *
   * @param role an expression for the role's OID
   */
  public static String pathOf(String role) {
    return PATH_OF.replace("<role>", role);
  }

  /**
   * The search path of the table owner's sessions: from the settings of the role or the database,
   * or the server's.
   */
  public static SearchPath ownersPath(Database source, DatabaseSettings settings, long oid) {
    String defaultPath = defaultPath(source, settings);
    return source.read("search path", sql -> ownersPath(sql, oid, defaultPath));
  }

  /**
   * The server's own search path. It is the default of our sessions, unless our role has a setting;
   * then the usual path is assumed.
   */
  public static String defaultPath(Database source, DatabaseSettings settings) {
    if (source.read("search path", sql -> PlainSql.isTrue(sql, HAS_PATH))) {
      return SearchPath.USUAL.text();
    }
    try (Session unpinned = Session.openUnpinned(settings, "coatcheck plan")) {
      return unpinned
          .transaction(
              "search path", sql -> PlainSql.rows(sql, "show search_path", row -> row.getString(1)))
          .getFirst();
    }
  }

  /** The table with its current names; empty if the table or a column is gone. */
  public static Optional<Target> now(Database source, Target target) {
    return source.read("names", sql -> now(sql, target));
  }

  public static Optional<Target> now(Session session, Target target) {
    return session.transaction("names", sql -> now(sql, target));
  }

  /**
   * An SQL expression for the number of the column of the keys in a contracted table: that of the
   * trigger on its updates, which stays where the primary key is changed, or else of the primary
   * key, if it has one column.
   *
   * @param relation an expression for the table's OID
   */
  public static String keyAttnum(String relation) {
    return KEY_ATTNUM.replace("<relation>", relation);
  }

  /**
   * A table whose column of legacy IDs is gone, with its current names. Its key column is the
   * column of the new keys. Empty if the table is gone, or nothing tells this column.
   */
  public static Optional<Target> contracted(DSLContext sql, Target target) {
    return PlainSql.first(
        sql,
        CONTRACTED,
        row ->
            target.renamed(
                new TableName(row.getString(1), row.getString(2)),
                row.getString(3),
                Optional.empty(),
                List.of()),
        target.oid());
  }

  private static Optional<Target> now(DSLContext sql, Target target) {
    Target.Anchors anchors = target.anchors();
    List<Child> children = ChildTable.now(sql, target);
    return PlainSql.first(
        sql,
        NOW,
        row ->
            target.renamed(
                new TableName(row.getString(1), row.getString(2)),
                row.getString(3),
                Optional.ofNullable(row.getString(4)),
                children),
        anchors.keyAttnum(),
        anchors.createdAtAttnum(),
        target.oid());
  }

  private static Target.Anchors anchors(
      DSLContext sql, long oid, String keyColumn, Optional<Target.TimeColumn> createdAt) {
    Target.Anchors anchors =
        PlainSql.row(
            sql,
            ANCHORS,
            row ->
                new Target.Anchors(
                    new TableName(row.getString(1), row.getString(2)),
                    row.getInt(3),
                    row.getInt(4)),
            keyColumn,
            createdAt.map(Target.TimeColumn::name).orElse(""),
            oid);
    return new Target.Anchors(
        firstName(sql, oid, anchors.firstName()), anchors.keyAttnum(), anchors.createdAtAttnum());
  }

  /**
   * The name after which an earlier run named its objects, such as the archive; otherwise the
   * table's own name, unless another table had that name before.
   */
  private static TableName firstName(DSLContext sql, long oid, TableName now) {
    if (!PlainSql.isTrue(sql, REMEMBERS)) {
      return now;
    }
    return PlainSql.first(
            sql, FIRST_NAME, row -> new TableName(row.getString(1), row.getString(2)), oid)
        .orElseGet(
            () ->
                PlainSql.isTrue(sql, IS_ANOTHERS, now.schema(), now.table(), oid)
                    ? new TableName(now.schema(), now.table() + " " + oid)
                    : now);
  }

  private static SearchPath ownersPath(DSLContext sql, long oid, String defaultPath) {
    return PlainSql.first(sql, OWNERS_PATH, row -> row.getString(1), defaultPath, oid)
        .flatMap(SearchPath::parse)
        .orElse(SearchPath.USUAL);
  }
}
