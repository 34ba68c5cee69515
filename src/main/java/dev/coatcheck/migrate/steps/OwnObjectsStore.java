package dev.coatcheck.migrate.steps;

import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.migrate.source.TargetSql;
import dev.coatcheck.postgres.session.Session;
import dev.coatcheck.postgres.sql.PlainSql;
import java.util.ArrayList;
import java.util.List;

/** Looks for the objects of a run, and puts empty ones instead of those that are gone. */
final class OwnObjectsStore {
  private static final String HAS_TABLE =
      "select exists (select from pg_catalog.pg_class where oid = <oid>::oid)";

  private static final String HAS_ARCHIVING =
      "select pg_catalog.to_regprocedure(<body><on_archived>()<body>) is not null";

  private static final String MISSING =
      """
      select o.what from (values
        (1, 'the schema <schema>', pg_catalog.to_regnamespace('<schema>') is not null),
        (2, 'the table <schema>.checkpoint',
         pg_catalog.to_regclass('<schema>.checkpoint') is not null),
        (3, <body>the table <archive><body>, pg_catalog.to_regclass(<body><archive><body>) is not null),
        (4, <body>the table <outbox_a><body>, pg_catalog.to_regclass(<body><outbox_a><body>) is not null),
        (5, <body>the table <outbox_b><body>, pg_catalog.to_regclass(<body><outbox_b><body>) is not null),
        (6, <body>the sequence <switch><body>, pg_catalog.to_regclass(<switch_text>) is not null),
        (7, <body>the sequence <mint_seq><body>, pg_catalog.to_regclass(<mint_seq_text>) is not null),
        (8, <body>the function <mint>()<body>,
         pg_catalog.to_regprocedure(<body><mint>()<body>) is not null),
        (9, 'the table <schema>.set_aside',
         pg_catalog.to_regclass('<schema>.set_aside') is not null)) as o (n, what, is_there)
       where not o.is_there order by o.n\
      """;

  private static final String MISSING_ON_TABLE =
      """
      select o.what from (values
        (1, 'the column snowflake_id of the table',
         exists (select from pg_catalog.pg_attribute where attrelid = <oid>::oid
                    and attname = 'snowflake_id' and not attisdropped))) as o (n, what, is_there)
       where not o.is_there order by o.n\
      """;

  private static final String HAS_TRIGGER =
      """
      select exists (select from pg_catalog.pg_trigger where tgrelid = <oid>::oid
                        and '"' || tgname::text || '"' = <body><t_{event}><body>)\
      """;

  /** An undo that lost it makes one whose T0 is 0. */
  private static final String HAS_CHECKPOINT =
      "select exists (select from <schema>.checkpoint where run = <run> and t0_ms > 0)";

  /** By T0 no position is left for any key: a backfill that met this row would fail at once. */
  private static final String CHECKPOINT_ROW =
      """
      insert into <schema>.checkpoint (run, table_oid, high_id, t0_ms, first_position, last_position)
      values (<run>, <oid>, 0, 0, 0, 0) on conflict do nothing\
      """;

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
          missing.addAll(PlainSql.rows(sql, names.fill(MISSING_ON_TABLE), row -> row.getString(1)));
          for (String event : TargetSql.TRIGGERS) {
            if (!PlainSql.isTrue(sql, names.fill(HAS_TRIGGER.replace("{event}", event)))) {
              missing.add("the trigger " + names.fill("<t_%s>".formatted(event)));
            }
          }
          return missing;
        });
  }

  void mend(boolean onTable) {
    session.transaction(
        "mend",
        sql -> {
          List<String> statements = new ArrayList<>(Steps.mending());
          if (onTable) {
            statements.add("alter table <table> add column if not exists snowflake_id bigint");
            statements.add(CHECKPOINT_ROW);
          }
          statements.forEach(statement -> PlainSql.execute(sql, names.fill(statement)));
          return true;
        });
  }
}
