package dev.coatcheck.migrate.plan;

import dev.coatcheck.migrate.source.Child;
import dev.coatcheck.migrate.source.TargetSql;
import dev.coatcheck.postgres.sql.PlainSql;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.jooq.DSLContext;

/**
 * Finds what the catalog does with the column of a child before the trigger of the run has made the
 * column follow its twin: it matters once an application writes only the twin.
 */
final class ChildCodeTable {
  /** Of the child and its partitions, without those that partitions have from the child. */
  private static final String TRIGGERS =
      """
      select format('%I on %s', g.tgname, g.tgrelid::regclass),
             a.attnum = any (g.tgattr::int2[]),
             g.tgtype & 3 = 3 and g.tgtype & 20 <> 0,
             coalesce(pg_get_function_sqlbody(p.oid), p.prosrc) || ' '
               || coalesce(substring(pg_get_triggerdef(g.oid) from ' WHEN (.*) EXECUTE '), '')
        from (select ?::oid as oid
              union
              select t.relid from pg_partition_tree(?::oid::regclass) t) as l
        join pg_attribute a on a.attrelid = l.oid and a.attname = ?
        join pg_trigger g on g.tgrelid = l.oid
        join pg_proc p on p.oid = g.tgfoid
       where not g.tgisinternal and g.tgparentid = 0 and g.tgenabled <> 'D'
         and not starts_with(g.tgname::text, '~coatcheck_')
       order by 1\
      """;

  private static final String EXPRESSIONS =
      """
      select distinct format('%s.%I, by default %s', a.attrelid::regclass, a.attname,
                             pg_get_expr(d.adbin, d.adrelid))
        from (select ?::oid as oid
              union
              select t.relid from pg_partition_tree(?::oid::regclass) t) as l
        join pg_attribute a on a.attrelid = l.oid and a.attname = ?
        join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
       where pg_get_expr(d.adbin, d.adrelid) !~ <constant>
         and pg_get_expr(d.adbin, d.adrelid) !~ <null>
      union
      select format('%s.%I, an identity column', a.attrelid::regclass, a.attname)
        from pg_attribute a where a.attrelid = ?::oid and a.attname = ? and a.attidentity <> ''
       order by 1\
      """
          .replace("<constant>", TargetSql.CONSTANT_DEFAULT)
          .replace("<null>", TargetSql.NULL_DEFAULT);

  private ChildCodeTable() {}

  static List<Precondition> preconditions(DSLContext sql, List<Child> children) {
    List<String> triggers = new ArrayList<>();
    List<String> defaults = new ArrayList<>();
    for (Child child : children) {
      triggers.addAll(triggers(sql, child));
      defaults.addAll(
          PlainSql.rows(
              sql,
              EXPRESSIONS,
              row -> row.getString(1),
              child.oid(),
              child.oid(),
              child.column(),
              child.oid(),
              child.column()));
    }
    List<Precondition> found = new ArrayList<>();
    if (!triggers.isEmpty()) {
      found.add(
          new Precondition(
              "child_triggers",
              "Where a statement writes only the new column of a table that refers to this one,"
                  + " these triggers miss it: the run's trigger, which lets the old column follow,"
                  + " fires last, and UPDATE OF the old column does not fire. Before an application"
                  + " writes a new column, let them look at that column too, or fire after the"
                  + " row.",
              triggers));
    }
    if (!defaults.isEmpty()) {
      found.add(
          new Precondition(
              "child_defaults",
              "Columns that refer to the table have defaults that are not constants, which the new"
                  + " columns do not get. Before the switch, an INSERT that gives only the new"
                  + " column has the row of the default: give the old column too, as NULL. Before"
                  + " contract, drop the default or give the new column one.",
              defaults));
    }
    return found;
  }

  private static List<String> triggers(DSLContext sql, Child child) {
    Pattern name =
        Pattern.compile(
            "(?<![\\w$])" + Pattern.quote(child.column()) + "(?![\\w$])",
            Pattern.CASE_INSENSITIVE | Pattern.UNICODE_CASE | Pattern.UNICODE_CHARACTER_CLASS);
    String both = child.column() + ", not of " + child.reference();
    return PlainSql.rows(
            sql,
            TRIGGERS,
            row -> {
              if (row.getBoolean(2)) {
                return row.getString(1) + ", which fires on update of " + both;
              }
              boolean isRead = row.getBoolean(3) && name.matcher(row.getString(4)).find();
              return isRead ? row.getString(1) + ", which reads " + child.column() : "";
            },
            child.oid(),
            child.oid(),
            child.column())
        .stream()
        .filter(found -> !found.isEmpty())
        .toList();
  }
}
