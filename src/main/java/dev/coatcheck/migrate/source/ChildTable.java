package dev.coatcheck.migrate.source;

import dev.coatcheck.postgres.session.Session;
import dev.coatcheck.postgres.sql.Database;
import dev.coatcheck.postgres.sql.PlainSql;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;
import org.jooq.DSLContext;

/**
 * Finds the children of a table: the columns, in any schema, with a foreign key to its legacy IDs.
 */
public final class ChildTable {
  /**
   * If a column has several foreign keys, the oldest one defines the rules; partitions have rules
   * of their own, and come and go. In the order of the foreign keys: they fire in the order of
   * their creation, so the twins' foreign keys have to be created in that order.
   */
  private static final String CHILDREN =
      """
      select k.relation, k.attnum, k.nspname, k.relname, k.attname, k.rules
        from (
          select distinct on (c.oid, a.attnum)
                 c.oid::bigint as relation, a.attnum::int, n.nspname::text, c.relname::text,
                 a.attname::text,
                 case when p.relispartition
                      then max(case when 'd' in (f.confdeltype, f.confupdtype) then 'd' else 'p' end)
                             over (partition by c.oid, a.attnum)
                      else f.confdeltype::text || f.confupdtype::text || f.condeferrable
                             || f.condeferred end as rules,
                 f.oid as foreign_key
            from pg_constraint f
            join pg_class p on p.oid = f.conrelid
            join pg_attribute k on k.attrelid = f.conrelid and k.attnum = f.conkey[1]
            join pg_class c
              on c.oid = case when p.relispartition then pg_partition_root(p.oid) else p.oid end
            join pg_namespace n on n.oid = c.relnamespace
            join pg_attribute a on a.attrelid = c.oid and a.attname = k.attname
           where f.contype = 'f' and f.confrelid = ?::oid and f.confkey = array[?::int2]
             and f.conparentid = 0
           order by c.oid, a.attnum, f.oid) as k
       order by k.foreign_key\
      """;

  private static final String NAMES =
      """
      select n.nspname::text, c.relname::text, a.attname::text
        from pg_class c
        join pg_namespace n on n.oid = c.relnamespace
        left join pg_attribute a on a.attrelid = c.oid and a.attnum = ? and not a.attisdropped
       where c.oid = ?::oid
         and (a.attname is not null
              or exists (select from pg_trigger t where t.tgrelid = c.oid and t.tgname = ?))\
      """;

  private static final String HAS_TWIN =
      """
      select exists (select from pg_attribute where attrelid = ?::oid and attname = ?
                        and atttypid = 'int8'::regtype and not attisdropped)\
      """;

  private static final String LEAVES =
      """
      select c.oid::bigint, n.nspname::text, c.relname::text
        from (select ?::oid as oid
              union
              select t.relid from pg_partition_tree(?::oid::regclass) t) as l
        join pg_class c on c.oid = l.oid and c.relkind = 'r'
        join pg_namespace n on n.oid = c.relnamespace
       order by c.oid\
      """;

  private static final String TABLES =
      """
      select distinct c.relname::text
        from pg_constraint f
        join pg_class c on c.oid = f.conrelid
        join pg_class t on t.oid = f.confrelid
        join pg_namespace n on n.oid = t.relnamespace
       where f.contype = 'f' and n.nspname = ? and t.relname = ?\
      """;

  private ChildTable() {}

  /** The names, without schemas, of the tables that refer to a table by any foreign key. */
  public static List<String> tables(Database source, String schema, String table) {
    return source.read(
        "children", sql -> PlainSql.rows(sql, TABLES, row -> row.getString(1), schema, table));
  }

  /**
   * The current children.
   *
   * @param keyAttnum the number of the key column
   */
  public static List<Child> of(Database source, long oid, int keyAttnum) {
    return source.read("children", sql -> of(sql, oid, keyAttnum));
  }

  public static List<Child> of(Session session, Target target) {
    return session.transaction(
        "children", sql -> of(sql, target.oid(), target.anchors().keyAttnum()));
  }

  public static List<Child> of(DSLContext sql, long oid, int keyAttnum) {
    return PlainSql.rows(
        sql,
        CHILDREN,
        row ->
            Child.of(
                row.getLong(1),
                row.getInt(2),
                new TableName(row.getString(3), row.getString(4)),
                row.getString(5),
                row.getString(6),
                leaves(sql, row.getLong(1))),
        oid,
        keyAttnum);
  }

  /** The current children. They keep their labels, even if a column was renamed. */
  public static List<Child> merged(List<Child> before, List<Child> now) {
    return now.stream()
        .map(
            child ->
                before.stream()
                    .filter(child::isSameColumn)
                    .findFirst()
                    .map(known -> known.renamed(child.table(), child.column(), child.leaves()))
                    .map(known -> known.withRules(child.rules()))
                    .orElse(child))
        .toList();
  }

  /**
   * Unknown children that already have their twin: detached partitions, which have their own
   * foreign keys since.
   */
  public static List<Child> detached(Session session, List<Child> known, List<Child> now) {
    return session.transaction(
        "children",
        sql ->
            now.stream()
                .filter(child -> known.stream().noneMatch(child::isSameColumn))
                .filter(child -> PlainSql.isTrue(sql, HAS_TWIN, child.oid(), child.reference()))
                .toList());
  }

  /** Whether a foreign key is gone or has other rules. */
  public static boolean isAnyLost(List<Child> before, List<Child> now) {
    return before.stream().anyMatch(child -> now.stream().noneMatch(child::isLike));
  }

  /** The children with their current names, without those that are gone. */
  public static List<Child> now(Session session, Target target) {
    return session.transaction("children", sql -> now(sql, target));
  }

  private static List<Child.Leaf> leaves(DSLContext sql, long oid) {
    return PlainSql.rows(
        sql,
        LEAVES,
        row -> new Child.Leaf(row.getLong(1), new TableName(row.getString(2), row.getString(3))),
        oid,
        oid);
  }

  /**
   * The children with their current names, without those that are gone. A child whose column was
   * dropped stays until our trigger has left it, so that an undo frees it.
   */
  static List<Child> now(DSLContext sql, Target target) {
    TargetSql names = new TargetSql(target);
    List<Child> now = new ArrayList<>();
    for (Child child : target.children()) {
      PlainSql.first(
              sql,
              NAMES,
              row ->
                  child.renamed(
                      new TableName(row.getString(1), row.getString(2)),
                      Objects.requireNonNullElse(row.getString(3), child.column()),
                      leaves(sql, child.oid())),
              child.attnum(),
              child.oid(),
              names.childTrigger(child))
          .ifPresent(now::add);
    }
    return List.copyOf(now);
  }

  /** The difference in words; empty if the foreign keys are the same. */
  public static Optional<String> difference(List<Child> before, List<Child> now) {
    List<String> changes =
        Stream.concat(
                now.stream()
                    .filter(child -> before.stream().noneMatch(child::isLike))
                    .map(child -> "new or changed: " + child.label()),
                before.stream()
                    .filter(child -> now.stream().noneMatch(child::isLike))
                    .map(child -> "gone or changed: " + child.label()))
            .toList();
    return changes.isEmpty() ? Optional.empty() : Optional.of(String.join("; ", changes));
  }
}
