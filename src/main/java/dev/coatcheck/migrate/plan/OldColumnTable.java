package dev.coatcheck.migrate.plan;

import dev.coatcheck.migrate.plan.OldColumnUse.Searched;
import dev.coatcheck.migrate.source.Child;
import dev.coatcheck.migrate.source.Source;
import dev.coatcheck.migrate.source.TableName;
import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.migrate.table.Steps;
import dev.coatcheck.postgres.sql.PlainSql;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jooq.DSLContext;

/** Finds what still uses the columns of the legacy IDs, in the table and in its children. */
public final class OldColumnTable {
  /** The sequences that go with the column of the legacy IDs. */
  private static final String GONE =
      """
      with gone as (
        select s.oid, s.relname::text as name, d.refobjid as relation, d.refobjsubid as attnum
          from pg_depend d join pg_class s on s.oid = d.objid and s.relkind = 'S'
         where d.classid = 'pg_class'::regclass and d.deptype in ('a', 'i')
           and d.refclassid = 'pg_class'::regclass and d.refobjid = ?::oid and d.refobjsubid = ?)
      """;

  private static final String FUNCTIONS_WITH_SEQUENCE =
      GONE
          + """
          select g.name, format('%I.%I', n.nspname, p.proname), left(p.prosrc, 100000)
            from gone g
            join pg_proc p on strpos(p.prosrc, g.name) > 0 and p.prosqlbody is null
            join pg_namespace n on n.oid = p.pronamespace
            join pg_language l on l.oid = p.prolang and l.lanname not in ('c', 'internal')
           where n.nspname not in ('pg_catalog', 'information_schema', 'coatcheck_migration')
           order by 2 limit 1000\
          """;

  /** By a text, which the catalog does not know as a dependency. */
  private static final String DEFAULTS_WITH_SEQUENCE =
      GONE
          + """
          select format('default value for column %I of table %s, by %s', a.attname,
                        a.attrelid::regclass, g.oid::regclass)
            from gone g
           cross join pg_attrdef d
            join pg_attribute a on a.attrelid = d.adrelid and a.attnum = d.adnum
           where pg_get_expr(d.adbin, d.adrelid) ~ '::text[)]::regclass'
             and strpos(replace(pg_get_expr(d.adbin, d.adrelid), '"', ''), g.name || '''::text') > 0
             and (d.adrelid, d.adnum) <> (g.relation, g.attnum)
           order by 1\
          """;

  private final Source source;
  private final Target target;

  /**
   * For one table.
   *
   * @param target with the names that it has now
   */
  public OldColumnTable(Source source, Target target) {
    this.source = source;
    this.target = target;
  }

  /** The statements that mention one of the tables, with their calls so far. */
  public CalledStatements called() {
    List<String> tables =
        Stream.concat(Stream.of(target.table()), target.children().stream().map(Child::table))
            .map(TableName::table)
            .distinct()
            .toList();
    return StatementTable.called(source.database(), tables);
  }

  /**
   * What applications do with the columns.
   *
   * @param before the calls of statements up to the moment from which on they count
   */
  public OldColumnUse use(Map<String, Long> before) {
    List<Searched> searched = source.database().read("old columns", this::searched);
    List<String> functions = source.database().read("old columns", this::callersOfSequence);
    return OldColumnUse.of(searched, functions, called().since(before));
  }

  private List<Searched> searched(DSLContext sql) {
    List<Searched> searched = new ArrayList<>();
    searched.add(searched(sql, target.table(), target.oid(), target.keyColumn()));
    target
        .children()
        .forEach(child -> searched.add(searched(sql, child.table(), child.oid(), child.column())));
    return searched;
  }

  private static Searched searched(DSLContext sql, TableName table, long oid, String column) {
    return new Searched(new Statements(table, column, ""), AppObjectsTable.read(sql, oid));
  }

  private List<String> callersOfSequence(DSLContext sql) {
    return ofKey(
            sql,
            FUNCTIONS_WITH_SEQUENCE,
            row -> names(row.getString(1), row.getString(3)) ? row.getString(2) : "")
        .stream()
        .filter(name -> !name.isEmpty())
        .toList();
  }

  /** Whether the body of a function has the name of a sequence, as a name or as a text. */
  private static boolean names(String sequence, String body) {
    return SqlToken.of(body).stream()
        .map(token -> token.text().replace("\"", ""))
        .anyMatch(text -> text.equals(sequence) || text.endsWith("." + sequence));
  }

  private <T> List<T> ofKey(DSLContext sql, String query, PlainSql.RowReader<T> reader) {
    return PlainSql.rows(sql, query, reader, target.oid(), target.anchors().keyAttnum());
  }

  /** What would keep the columns from being dropped, or would go with them unasked, in words. */
  public List<String> dependents() {
    return source
        .database()
        .read(
            "old columns",
            sql ->
                Stream.concat(
                        Steps.dependents(target).stream()
                            .flatMap(
                                query ->
                                    PlainSql.rows(sql, query, row -> row.getString(1)).stream()),
                        ofKey(sql, DEFAULTS_WITH_SEQUENCE, row -> row.getString(1)).stream())
                    .distinct()
                    .toList());
  }
}
