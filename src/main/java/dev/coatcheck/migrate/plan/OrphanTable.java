package dev.coatcheck.migrate.plan;

import dev.coatcheck.migrate.source.Child;
import dev.coatcheck.migrate.source.TableName;
import dev.coatcheck.postgres.connection.SqlState;
import dev.coatcheck.postgres.sql.PlainSql;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jooq.DSLContext;
import org.jooq.exception.DataAccessException;

/** Counts the rows without a parent in partitions that lack the foreign key of the others. */
final class OrphanTable {
  private static final String BOUND = "set local statement_timeout = '5s'";

  private static final String HAS_KEY =
      """
      select exists (
        select from pg_constraint f
          join pg_attribute a on a.attrelid = f.conrelid and a.attnum = f.conkey[1]
         where f.contype = 'f' and f.conrelid = ?::oid and f.confrelid = ?::oid
           and cardinality(f.confkey) = 1 and a.attname = ?)\
      """;

  private final DSLContext sql;
  private final long oid;
  private final TableName table;
  private final String key;

  OrphanTable(DSLContext sql, long oid, TableName table, String key) {
    this.sql = sql;
    this.oid = oid;
    this.table = table;
    this.key = key;
  }

  /** Empty if each row has a parent. */
  Optional<Precondition> precondition(List<Child> children) {
    List<String> queries = new ArrayList<>();
    List<String> leaves = new ArrayList<>();
    for (Child child : children) {
      for (Child.Leaf leaf : child.leaves()) {
        if (!PlainSql.isTrue(sql, HAS_KEY, leaf.oid(), oid, child.column())) {
          queries.add(query(child, leaf));
          leaves.add(leaf.table().text());
        }
      }
    }
    return queries.isEmpty() ? Optional.empty() : precondition(queries, leaves);
  }

  private Optional<Precondition> precondition(List<String> queries, List<String> leaves) {
    try {
      List<String> found = found(String.join(" union all ", queries));
      return found.isEmpty()
          ? Optional.empty()
          : Optional.of(precondition(found, Optional.empty()));
    } catch (DataAccessException refused) {
      if (!SqlState.isCancelled(refused)) {
        throw refused;
      }
      return Optional.of(
          precondition(
              List.of(),
              Optional.of("5 s are too short for the rows of " + String.join(", ", leaves))));
    }
  }

  private static Precondition precondition(List<String> found, Optional<String> notSearched) {
    return new Precondition(
        "rows_without_parent",
        "Rows of partitions without the foreign key refer to rows that do not exist. They get no"
            + " new key, so contract takes away what they refer to: add the rows, or the foreign"
            + " key, if that matters.",
        found,
        notSearched);
  }

  private String query(Child child, Child.Leaf leaf) {
    String name = leaf.table().text() + ", whose " + child.column() + " is ";
    return """
    select count(*), string_agg(o.parent::text, ', ') filter (where o.n <= 3), %5$s
      from (select t.%1$s as parent, row_number() over () as n from only %2$s t
             where t.%1$s is not null
               and not exists (select from %3$s p where p.%4$s = t.%1$s)) as o
    having count(*) > 0\
    """
        .formatted(
            TableName.quoted(child.column()),
            leaf.table().quoted(),
            table.quoted(),
            TableName.quoted(key),
            TableName.literal(name));
  }

  /** In a savepoint, so that the transaction survives a count that takes too long. */
  private List<String> found(String query) {
    PlainSql.execute(sql, "savepoint orphans");
    try {
      PlainSql.execute(sql, BOUND);
      return PlainSql.rows(
          sql,
          query,
          row ->
              "%,d rows of %s%s%s"
                  .formatted(
                      row.getLong(1),
                      row.getString(3),
                      row.getString(2),
                      row.getLong(1) > 3 ? " and others" : ""));
    } finally {
      PlainSql.execute(sql, "rollback to savepoint orphans");
    }
  }
}
