package dev.coatcheck.migrate.steps;

import dev.coatcheck.migrate.source.SqlTemplate;
import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.migrate.source.TargetSql;
import dev.coatcheck.postgres.session.Session;
import dev.coatcheck.postgres.sql.PlainSql;
import java.util.ArrayList;
import java.util.List;

/** Looks for the objects of a run, and makes empty ones instead of those that are missing. */
final class OwnObjectsStore {
  private static final String HAS_TABLE =
      "select exists (select from pg_catalog.pg_class where oid = <oid>::oid)";

  private static final String HAS_ARCHIVING =
      "select pg_catalog.to_regprocedure(<'on_archived'> || '()') is not null";

  private static final SqlTemplate MISSING =
      SqlTemplate.file(OwnObjectsStore.class, "own-objects.sql");

  private static final String HAS_COLUMN =
      """
      select exists (select from pg_catalog.pg_attribute where attrelid = <oid>::oid
                        and attname = <'key'> and not attisdropped)\
      """;

  private static final String TRIGGERS =
      "select tgname::text from pg_catalog.pg_trigger where tgrelid = <oid>::oid";

  /** An undo that lost it makes one whose T0 is 0. */
  private static final String HAS_CHECKPOINT =
      "select exists (select from <schema>.checkpoint where run = <run> and t0_ms > 0)";

  private static final SqlTemplate LOST_CHECKPOINT =
      SqlTemplate.file(OwnObjectsStore.class, "lost-checkpoint.sql");

  private final Session session;
  private final TargetSql names;

  OwnObjectsStore(Session session, Target target) {
    this.session = session;
    this.names = new TargetSql(target);
  }

  boolean hasTable() {
    return session.transaction("objects", sql -> PlainSql.isTrue(sql, names.fill(HAS_TABLE)));
  }

  boolean hasArchiving() {
    return session.transaction("objects", sql -> PlainSql.isTrue(sql, names.fill(HAS_ARCHIVING)));
  }

  List<String> missing(boolean onTable) {
    return session.transaction(
        "objects",
        sql -> {
          if (onTable && !PlainSql.isTrue(sql, names.fill(HAS_TABLE))) {
            return List.of("the table itself");
          }
          List<String> missing =
              new ArrayList<>(PlainSql.rows(sql, names.fill(MISSING), row -> row.getString(1)));
          boolean hasSchema = missing.stream().noneMatch(what -> what.startsWith("the schema "));
          if (!hasSchema) {
            missing.subList(1, missing.size()).clear();
          }
          if (!onTable) {
            return missing;
          }
          boolean hasCheckpoints =
              hasSchema && missing.stream().noneMatch(what -> what.endsWith(".checkpoint"));
          if (hasCheckpoints && !PlainSql.isTrue(sql, names.fill(HAS_CHECKPOINT))) {
            missing.add(names.fill("the row of this run in <schema>.checkpoint"));
          }
          if (!PlainSql.isTrue(sql, names.fill(HAS_COLUMN))) {
            missing.add("the column " + Target.NEW_COLUMN + " of the table");
          }
          List<String> triggers = PlainSql.rows(sql, names.fill(TRIGGERS), row -> row.getString(1));
          TargetSql.TRIGGERS.stream()
              .filter(event -> !triggers.contains(TargetSql.TRIGGER_START + event))
              .forEach(event -> missing.add("the trigger " + names.fill("<t_" + event + ">")));
          return missing;
        });
  }

  void mend(boolean onTable) {
    session.transaction(
        "mend",
        sql -> {
          List<String> statements = new ArrayList<>(Steps.mending());
          if (onTable) {
            statements.add("alter table <table> add column if not exists <key> bigint");
            statements.addAll(LOST_CHECKPOINT.statements());
          }
          statements.forEach(statement -> PlainSql.execute(sql, names.fill(statement)));
          return true;
        });
  }
}
