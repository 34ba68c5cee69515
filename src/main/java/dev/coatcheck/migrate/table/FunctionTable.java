package dev.coatcheck.migrate.table;

import dev.coatcheck.migrate.source.SourceSession;
import dev.coatcheck.migrate.source.SourceSession.Name;
import dev.coatcheck.migrate.source.SqlTemplate;
import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.migrate.source.TargetSql;
import dev.coatcheck.postgres.sql.Database;
import dev.coatcheck.postgres.sql.PlainSql;

/**
 * Keeps the functions of the triggers up to date with the table's names and owner. Outdated
 * functions still work, but are slower.
 */
public final class FunctionTable {
  private static final String BELONG_TO_OWNER =
      """
      select not exists (
        select from pg_proc p
         where p.oid = to_regprocedure(<'fill'> || '(bigint[], bigint[])')
           and p.proowner <> (select c.relowner from pg_class c where c.oid = <oid>))\
      """;

  /** Two instances may replace them at once, and a step or its undo, which Postgres refuses. */
  static final String ONE_BY_ONE =
      "select pg_advisory_xact_lock(<lock_class_of_functions>, <lock_table>)";

  /**
   * An undo may have dropped them meanwhile, or those of a table without legacy IDs, which are
   * others, have replaced them.
   */
  private static final String ARE_THERE =
      """
      select to_regprocedure(<'fill'> || '(bigint[], bigint[])') is not null
         and exists (select from pg_attribute
                      where attrelid = <oid>::oid and attnum = <key_attnum> and not attisdropped)\
      """;

  /**
   * Otherwise a role that may call our functions could create a trigger on its own table and write
   * to the outbox. In a restored copy the table has another OID and is found by its name.
   */
  private static final String ONLY_OF_RUN =
      """
      if tg_relid <> <oid>::oid then
          if not exists (select from <schema>.known_table k
                          where k.relation = tg_relid and k.first_schema = <'first_schema'>
                            and k.first_name = <'first_name'>) then
            raise exception 'coatcheck: % is no table of this run', tg_relid::regclass
              using errcode = 'insufficient_privilege';
          end if;
        end if;\
      """;

  /** The legacy IDs and keys of inserted rows, if the column was renamed; its name is faster. */
  private static final String IDS_IF_RENAMED =
      """
      begin
          perform i.<id> from inserted i limit 0;
        exception when undefined_column then
          column_name := <id_column>;
          if column_name is null then
            return null;
          end if;
          execute format('select coalesce(array_agg(i.%I::bigint), array[]::bigint[]),
                                 array_agg(i.<key>) from inserted i', column_name)
            into ids, keys;
        end;\
      """;

  private FunctionTable() {}

  /** Adds the guard that restricts the functions of a template to the table of the run. */
  static SqlTemplate guarded(SqlTemplate functions) {
    return functions
        .with("only_of_run", ONLY_OF_RUN)
        .with("ids_if_renamed", IDS_IF_RENAMED)
        .with("id_column", columnNow("tg_relid", "<key_attnum>"));
  }

  /** The name that a column has now; null if it was dropped. */
  static String columnNow(String table, String attnum) {
    return """
    (select a.attname from pg_attribute a
          where a.attrelid = %s and a.attnum = %s and not a.attisdropped)\
    """
        .formatted(table, attnum);
  }

  /**
   * Replaces the functions if the table was renamed or has a new owner. Takes no lock on the table.
   *
   * @param before the table with the names that the functions use
   * @param now the same table with its current names
   */
  public static void keepUp(Database source, Target before, Target now) {
    if (!before.equals(now) || !belongToOwner(source, now)) {
      replace(source, now);
    }
  }

  /** Whether the functions that write to the table, if any, belong to the table's owner. */
  private static boolean belongToOwner(Database source, Target target) {
    String query = new TargetSql(target).fill(BELONG_TO_OWNER);
    return source.read(
        "functions",
        sql ->
            PlainSql.isTrue(sql, query)
                && ChildSteps.of(target)
                    .allMatch(child -> PlainSql.isTrue(sql, child.belongsToOwner())));
  }

  private static void replace(Database source, Target target) {
    TargetSql names = new TargetSql(target);
    Database named = SourceSession.named(source, Name.FUNCTIONS, target);
    named.write(
        "functions",
        sql -> {
          PlainSql.execute(sql, names.fill(ONE_BY_ONE));
          if (!PlainSql.isTrue(sql, names.fill(ARE_THERE))) {
            return false;
          }
          Steps.functions(target).forEach(statement -> PlainSql.execute(sql, statement));
          boolean isSwitched = PlainSql.isTrue(sql, SwitchSteps.hasNewPrimaryKey(target));
          ChildSteps.of(target)
              .filter(child -> PlainSql.isTrue(sql, child.hasFunctions()))
              .flatMap(child -> child.functions(isSwitched).stream())
              .forEach(statement -> PlainSql.execute(sql, statement));
          return true;
        });
  }
}
