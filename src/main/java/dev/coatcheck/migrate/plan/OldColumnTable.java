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
    return OldColumnUse.of(searched, called().since(before));
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

  /** What would keep the columns from being dropped, or would go with them unasked, in words. */
  public List<String> dependents() {
    return source
        .database()
        .read(
            "old columns",
            sql ->
                Steps.dependents(target).stream()
                    .flatMap(query -> PlainSql.rows(sql, query, row -> row.getString(1)).stream())
                    .toList());
  }
}
