package dev.coatcheck.migrate.plan;

import dev.coatcheck.migrate.source.Child;
import dev.coatcheck.migrate.source.ChildTable;
import dev.coatcheck.migrate.source.ObjectNames;
import dev.coatcheck.migrate.source.TableName;
import dev.coatcheck.postgres.sql.Database;
import dev.coatcheck.postgres.sql.PlainSql;
import dev.coatcheck.postgres.sql.TransactionStart;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.jooq.DSLContext;

/** Reads what a table is made of, in one snapshot of a transaction that can't write. */
final class SurveyStore {
  /** Below the 10 s after which a pooled connection is given up. */
  private static final String STATEMENT_MAX = "set local statement_timeout = '8s'";

  private static final String LOCK_MAX = "set local lock_timeout = '1s'";

  private static final String SERVER =
      """
      select current_setting('server_version_num')::int / 10000,
             pg_is_in_recovery(),
             array_remove(array[
               case when current_setting('fsync') = 'off' then 'fsync' end,
               case when current_setting('full_page_writes') = 'off' then 'full_page_writes' end,
               (select name from pg_settings
                 where name = 'synchronous_commit' and reset_val = 'off')], null),
             floor(extract(epoch from clock_timestamp()) * 1000)::bigint,
             (select pg_has_role(oid, 'usage') from pg_roles where rolname = 'pg_read_all_stats')\
      """;

  private static final String TABLE =
      """
      select c.oid::bigint, c.relkind::text,
             case when c.relpages > 0
                  then c.reltuples::float8 / c.relpages
                         * (pg_relation_size(c.oid) / current_setting('block_size')::int)
                  else -1 end,
             case when c.relkind in ('r', 'm', 't') then pg_relation_size(c.oid) else 0 end,
             case when c.relkind in ('r', 'm', 't') then pg_total_relation_size(c.oid) else 0 end,
             has_table_privilege(c.oid, 'select') and has_schema_privilege(n.oid, 'usage')
        from pg_class c join pg_namespace n on n.oid = c.relnamespace
       where n.nspname = ? and c.relname = ?\
      """;

  private static final String ALIKE =
      """
      select format('%I.%I', n.nspname, c.relname)
        from pg_class c join pg_namespace n on n.oid = c.relnamespace
       where c.relkind in ('r', 'p') and lower(c.relname) = lower(?)
         and n.nspname not in ('pg_catalog', 'information_schema') order by 1 limit 3\
      """;

  private static final String PRIMARY_KEY =
      """
      select p.conname::text, p.conkey[1]::int,
             array_agg(a.attname::text order by k.n),
             array_agg(format_type(a.atttypid, null) order by k.n)
        from pg_constraint p
       cross join lateral unnest(p.conkey) with ordinality as k(attnum, n)
        join pg_attribute a on a.attrelid = p.conrelid and a.attnum = k.attnum
       where p.conrelid = ?::oid and p.contype = 'p'
       group by p.oid, p.conname, p.conkey\
      """;

  private static final String COLUMNS =
      """
      select a.attname::text,
             case a.atttypid when 'timestamptz'::regtype then 'timestamptz'
                             when 'timestamp'::regtype then 'timestamp'
                             else format_type(a.atttypid, null) end
        from pg_attribute a
       where a.attrelid = ?::oid and a.attnum > 0 and not a.attisdropped order by a.attnum\
      """;

  private static final String MAY_ASK_CHECKPOINT =
      """
      select coalesce(has_schema_privilege(to_regnamespace('coatcheck_migration'), 'usage')
               and has_table_privilege(to_regclass('coatcheck_migration.checkpoint'), 'select'),
             false)\
      """;

  private final DSLContext sql;

  private SurveyStore(DSLContext sql) {
    this.sql = sql;
  }

  /**
   * @param losesCommitsBy settings that are off
   * @param seesOthers may see since when the sessions of others work
   */
  record Server(
      int version,
      boolean isInRecovery,
      List<String> losesCommitsBy,
      long nowMillis,
      boolean seesOthers) {}

  /**
   * A relation, found by its exact names.
   *
   * @param tuples by the last vacuum or analyze, for as many pages as there are now; below 0:
   *     unknown
   */
  record Relation(
      long oid, String kind, double tuples, long heapBytes, long bytes, boolean maySelect) {}

  record PrimaryKey(
      String constraint, int columnNumber, List<String> columns, List<String> types) {}

  record Column(String name, String type) {}

  /** The range of a key; 0 and 1 for an empty table. */
  record Range(long highest, long lowest) {}

  /** Runs the work in one transaction that only reads. */
  static <T> T reading(Database database, Function<SurveyStore, T> work) {
    return database
        .begunBy(TransactionStart.OF_SNAPSHOT)
        .write(
            "inspect",
            sql -> {
              PlainSql.execute(sql, "set local search_path = pg_catalog");
              PlainSql.execute(sql, STATEMENT_MAX);
              PlainSql.execute(sql, LOCK_MAX);
              return work.apply(new SurveyStore(sql));
            });
  }

  Server server() {
    return PlainSql.row(
        sql,
        SERVER,
        row ->
            new Server(
                row.getInt(1),
                row.getBoolean(2),
                PlainSql.texts(row, 3),
                row.getLong(4),
                row.getBoolean(5)));
  }

  Optional<Relation> relation(String schema, String table) {
    return PlainSql.first(
        sql,
        TABLE,
        row ->
            new Relation(
                row.getLong(1),
                row.getString(2),
                row.getDouble(3),
                row.getLong(4),
                row.getLong(5),
                row.getBoolean(6)),
        schema,
        table);
  }

  /** Tables of the same name but for case, in any schema. */
  List<String> alike(String table) {
    return PlainSql.rows(sql, ALIKE, row -> row.getString(1), table);
  }

  Optional<PrimaryKey> primaryKey(long oid) {
    return PlainSql.first(
        sql,
        PRIMARY_KEY,
        row ->
            new PrimaryKey(
                row.getString(1), row.getInt(2), PlainSql.texts(row, 3), PlainSql.texts(row, 4)),
        oid);
  }

  List<Column> columns(long oid) {
    return PlainSql.rows(sql, COLUMNS, row -> new Column(row.getString(1), row.getString(2)), oid);
  }

  AppObjects appObjects(long oid) {
    return AppObjectsTable.read(sql, oid);
  }

  List<Child> children(long oid, int keyAttnum) {
    return ChildTable.of(sql, oid, keyAttnum);
  }

  /** Which rows of children have no parent, if there are any. */
  Optional<Precondition> orphans(long oid, TableName table, PrimaryKey key, List<Child> children) {
    return new OrphanTable(sql, oid, table, key.columns().getFirst()).precondition(children);
  }

  /** What of the children misses a statement that writes only a new column. */
  List<Precondition> childCode(List<Child> children) {
    return ChildCodeTable.preconditions(sql, children);
  }

  SizeStore sizes(TableSurvey.Limits limits, LongSupplier nanoTime) {
    return new SizeStore(sql, limits, nanoTime);
  }

  /** The first column of a query that takes no values. */
  List<String> texts(String query) {
    return PlainSql.rows(sql, query, row -> row.getString(1));
  }

  boolean hasCheckpoint(long oid) {
    return PlainSql.isTrue(sql, MAY_ASK_CHECKPOINT)
        && PlainSql.isTrue(
            sql,
            "select exists (select from " + ObjectNames.SCHEMA + ".checkpoint where table_oid = ?)",
            oid);
  }

  Range range(TableName table, String key) {
    String text =
        "select coalesce(max(<id>), 0)::bigint, coalesce(min(<id>), 1)::bigint from <table>"
            .replace("<id>", TableName.quoted(key))
            .replace("<table>", table.quoted());
    return PlainSql.row(sql, text, row -> new Range(row.getLong(1), row.getLong(2)));
  }
}
