package dev.coatcheck.migrate.steps;

import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.migrate.source.TargetSql;
import dev.coatcheck.postgres.sql.Database;
import dev.coatcheck.postgres.sql.PlainSql;

/** Reads who owns the functions behind the triggers, and replaces them. */
final class FunctionStore {
  private static final String BELONG_TO_OWNER =
      """
      select not exists (
        select from pg_proc p
         where p.oid = to_regprocedure(<'fill'> || '(bigint[], bigint[])')
           and p.proowner <> (select c.relowner from pg_class c where c.oid = <oid>))\
      """;

  /** Two instances may replace them at once, which Postgres refuses. */
  private static final String ONE_BY_ONE =
      "select pg_advisory_xact_lock(<lock_class_of_functions>, <lock_table>)";

  private final Database source;

  FunctionStore(Database source) {
    this.source = source;
  }

  /** Whether those that write to the table, if there are any, belong to the role that owns it. */
  boolean belongToOwner(Target target) {
    String query = new TargetSql(target).fill(BELONG_TO_OWNER);
    return source.read("functions", sql -> PlainSql.isTrue(sql, query));
  }

  void replace(Target target) {
    TargetSql names = new TargetSql(target);
    source.write(
        "functions",
        sql -> {
          PlainSql.execute(sql, names.fill(ONE_BY_ONE));
          Steps.functions(target).forEach(statement -> PlainSql.execute(sql, statement));
          return true;
        });
  }
}
