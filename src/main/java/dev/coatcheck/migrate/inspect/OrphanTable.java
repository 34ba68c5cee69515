package dev.coatcheck.migrate.inspect;

import dev.coatcheck.migrate.application.Precondition;
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

  private static final String IS_BOUND =
      """
      select exists (
        select from pg_constraint f
          join pg_attribute a on a.attrelid = f.conrelid and a.attnum = f.conkey[1]
         where f.contype = 'f' and f.conrelid = ?::oid and f.confrelid = ?::oid
           and cardinality(f.confkey) = 1 and a.attname = ?)\
      """;

  private static final String ORPHANS =
      """
      select count(*), string_agg(o.parent::text, ', ') filter (where o.n <= 3)
        from (select t.<fk> as parent, row_number() over () as n from only <leaf> t
               where t.<fk> is not null
                 and not exists (select from <table> p where p.<id> = t.<fk>)) as o\
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
    List<String> found = new ArrayList<>();
    List<String> notSearched = new ArrayList<>();
    for (Child child : children) {
      for (Child.Leaf leaf : child.leaves()) {
        if (!PlainSql.isTrue(sql, IS_BOUND, leaf.oid(), oid, child.column())) {
          try {
            orphans(child, leaf).ifPresent(found::add);
          } catch (DataAccessException refused) {
            if (!SqlState.isCancelled(refused)) {
              throw refused;
            }
            notSearched.add(leaf.table().text());
          }
        }
      }
    }
    return found.isEmpty() && notSearched.isEmpty()
        ? Optional.empty()
        : Optional.of(
            new Precondition(
                "rows_without_parent",
                "Rows of partitions without the foreign key refer to rows that do not exist. They"
                    + " get no new key, so contract takes away what they refer to: add the rows,"
                    + " or the foreign key, if that matters.",
                found,
                notSearched.isEmpty()
                    ? Optional.empty()
                    : Optional.of("5 s were too short for " + String.join(", ", notSearched))));
  }

  private Optional<String> orphans(Child child, Child.Leaf leaf) {
    String query =
        ORPHANS
            .replace("<fk>", TableName.quoted(child.column()))
            .replace("<id>", TableName.quoted(key))
            .replace("<leaf>", leaf.table().quoted())
            .replace("<table>", table.quoted());
    return sql.transactionResult(
        savepoint -> {
          PlainSql.execute(savepoint.dsl(), BOUND);
          Optional<String> text =
              PlainSql.row(
                  savepoint.dsl(),
                  query,
                  row ->
                      row.getLong(1) == 0
                          ? Optional.empty()
                          : Optional.of(
                              "%,d rows of %s, whose %s is %s"
                                  .formatted(
                                      row.getLong(1),
                                      leaf.table().text(),
                                      child.column(),
                                      row.getString(2)
                                          + (row.getLong(1) > 3 ? " and others" : ""))));
          PlainSql.execute(savepoint.dsl(), InventoryStore.STATEMENT_MAX);
          return text;
        });
  }
}
