package dev.coatcheck.migrate.run;

import static dev.coatcheck.postgres.sql.schema.Tables.TABLE_MIGRATION;
import static org.jooq.impl.DSL.currentInstant;
import static org.jooq.impl.DSL.val;

import dev.coatcheck.migrate.plan.PlanRequest;
import dev.coatcheck.migrate.plan.Proposal;
import dev.coatcheck.migrate.source.Child;
import dev.coatcheck.migrate.source.TableName;
import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.migrate.source.ThrottleSettings;
import dev.coatcheck.migrate.table.Phase;
import dev.coatcheck.postgres.sql.Database;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jooq.Condition;
import org.jooq.DSLContext;
import org.jooq.JSONB;
import org.jooq.impl.DSL;

/** The rows of runs. */
final class RunStore {
  private final Database database;

  RunStore(Database database) {
    this.database = database;
  }

  static TableMigration insert(DSLContext sql, PlanRequest request, Proposal.Ready proposal) {
    Target target = proposal.target();
    return sql.insertInto(TABLE_MIGRATION)
        .set(TABLE_MIGRATION.RUN, target.run())
        .set(TABLE_MIGRATION.SOURCE, request.source())
        .set(TABLE_MIGRATION.TABLE_SCHEMA, target.table().schema())
        .set(TABLE_MIGRATION.TABLE_NAME, target.table().table())
        .set(TABLE_MIGRATION.TABLE_OID, target.oid())
        .set(TABLE_MIGRATION.KEY_COLUMN, target.keyColumn())
        .set(TABLE_MIGRATION.KEY_TYPE, target.keyType())
        .set(
            TABLE_MIGRATION.CREATED_AT_COLUMN,
            target.createdAt().map(Target.TimeColumn::name).orElse(null))
        .set(
            TABLE_MIGRATION.CREATED_AT_TYPE,
            target.createdAt().map(Target.TimeColumn::type).orElse(null))
        .set(TABLE_MIGRATION.FIRST_SCHEMA, target.anchors().firstName().schema())
        .set(TABLE_MIGRATION.FIRST_NAME, target.anchors().firstName().table())
        .set(TABLE_MIGRATION.KEY_ATTNUM, target.anchors().keyAttnum())
        .set(
            TABLE_MIGRATION.CREATED_AT_ATTNUM,
            target.createdAt().map(_ -> target.anchors().createdAtAttnum()).orElse(null))
        .set(TABLE_MIGRATION.APPLICATION_PATH, target.applicationPath().text())
        .set(TABLE_MIGRATION.CHILDREN, JSONB.valueOf(RunRowTable.json(target.children())))
        .set(TABLE_MIGRATION.TYPE_ID, request.type().number())
        .set(TABLE_MIGRATION.KEEP_PRIMARY_KEY, request.table().keepPrimaryKey())
        .set(TABLE_MIGRATION.PLAN, JSONB.valueOf(RunRowTable.json(proposal.plan())))
        .set(
            TABLE_MIGRATION.THROTTLE_SETTINGS,
            JSONB.valueOf(RunRowTable.json(ThrottleSettings.DEFAULT)))
        .set(TABLE_MIGRATION.ROWS_TOTAL, proposal.plan().rows())
        .returning()
        .fetchSingle(RunRowTable::run);
  }

  Optional<TableMigration> find(long id) {
    return database.read(
        "table migration",
        sql ->
            sql.fetchOptional(TABLE_MIGRATION, TABLE_MIGRATION.MIGRATION_ID.eq(id))
                .map(RunRowTable::run));
  }

  boolean hasImported(long id) {
    return database.read(
        "table migration",
        sql ->
            sql.fetchExists(
                TABLE_MIGRATION,
                TABLE_MIGRATION.MIGRATION_ID.eq(id).and(TABLE_MIGRATION.IMPORTED_ID.isNotNull())));
  }

  List<TableMigration> list() {
    return database.read(
        "table migrations",
        sql ->
            sql.selectFrom(TABLE_MIGRATION)
                .orderBy(TABLE_MIGRATION.MIGRATION_ID.desc())
                .limit(Journal.LISTED_MAX)
                .fetch(RunRowTable::run));
  }

  List<TableMigration> of(String source, TableName table) {
    return database.read(
        "table migrations",
        sql ->
            sql.selectFrom(TABLE_MIGRATION)
                .where(TABLE_MIGRATION.SOURCE.eq(source))
                .and(TABLE_MIGRATION.TABLE_SCHEMA.eq(table.schema()))
                .and(TABLE_MIGRATION.TABLE_NAME.eq(table.table()))
                .orderBy(TABLE_MIGRATION.MIGRATION_ID)
                .fetch(RunRowTable::run));
  }

  /** Those that have something on their table. */
  List<TableMigration> occupying() {
    return database.read(
        "table migrations",
        sql -> sql.selectFrom(TABLE_MIGRATION).where("occupies").fetch(RunRowTable::run));
  }

  static Optional<TableMigration> locked(DSLContext sql, long id) {
    return sql.selectFrom(TABLE_MIGRATION)
        .where(TABLE_MIGRATION.MIGRATION_ID.eq(id))
        .forNoKeyUpdate()
        .fetchOptional(RunRowTable::run);
  }

  static void write(DSLContext sql, TableMigration run) {
    TableMigration.Status status = run.status();
    boolean started = status.state() != RunState.PLANNED && run.times().startedAt().isEmpty();
    boolean ended = status.state().isEnd();
    sql.update(TABLE_MIGRATION)
        .set(TABLE_MIGRATION.STATE, status.state().wireName())
        .set(TABLE_MIGRATION.OCCUPIES, status.occupies())
        .set(TABLE_MIGRATION.GOAL, status.goal().wireName())
        .set(TABLE_MIGRATION.UNDO_PHASE, status.undoPhase().map(Phase::wireName).orElse(null))
        .set(TABLE_MIGRATION.REASON, status.reason().orElse(null))
        .set(
            TABLE_MIGRATION.WAITS_FOR,
            status.waitsFor().map(RunRowTable::json).map(JSONB::valueOf).orElse(null))
        .set(
            TABLE_MIGRATION.THROTTLE_SETTINGS,
            JSONB.valueOf(RunRowTable.json(run.throttleSettings())))
        .set(TABLE_MIGRATION.SWITCH_NOT_BEFORE, run.switchWindow().notBefore().orElse(null))
        .set(TABLE_MIGRATION.SWITCH_NOT_AFTER, run.switchWindow().notAfter().orElse(null))
        .set(TABLE_MIGRATION.ACCEPTED, run.accepted().toArray(String[]::new))
        .set(TABLE_MIGRATION.STARTED_AT, started ? currentInstant() : TABLE_MIGRATION.STARTED_AT)
        .set(
            TABLE_MIGRATION.ENDED_AT,
            ended ? currentInstant() : val((Instant) null, TABLE_MIGRATION.ENDED_AT))
        .where(TABLE_MIGRATION.MIGRATION_ID.eq(run.id()))
        .execute();
  }

  /** Keeps the names that a table has now; false if they are known. */
  boolean renamed(long id, Target before, Target now, String actor, String detail) {
    String createdAt = now.createdAt().map(Target.TimeColumn::name).orElse(null);
    JSONB childrenNow = JSONB.valueOf(RunRowTable.json(now.children()));
    // Unless they are others meanwhile than those whose names were looked up.
    Condition areChildrenKnown =
        TABLE_MIGRATION.CHILDREN.eq(JSONB.valueOf(RunRowTable.json(before.children())));
    return database.write(
        "table migration names",
        sql -> {
          boolean isNews =
              sql.update(TABLE_MIGRATION)
                      .set(TABLE_MIGRATION.TABLE_SCHEMA, now.table().schema())
                      .set(TABLE_MIGRATION.TABLE_NAME, now.table().table())
                      .set(TABLE_MIGRATION.KEY_COLUMN, now.keyColumn())
                      .set(TABLE_MIGRATION.CREATED_AT_COLUMN, createdAt)
                      .set(
                          TABLE_MIGRATION.CHILDREN,
                          DSL.when(areChildrenKnown, DSL.val(childrenNow))
                              .otherwise(TABLE_MIGRATION.CHILDREN))
                      .where(TABLE_MIGRATION.MIGRATION_ID.eq(id))
                      .and(
                          TABLE_MIGRATION
                              .TABLE_SCHEMA
                              .ne(now.table().schema())
                              .or(TABLE_MIGRATION.TABLE_NAME.ne(now.table().table()))
                              .or(TABLE_MIGRATION.KEY_COLUMN.ne(now.keyColumn()))
                              .or(TABLE_MIGRATION.CREATED_AT_COLUMN.isDistinctFrom(createdAt))
                              .or(areChildrenKnown.and(TABLE_MIGRATION.CHILDREN.ne(childrenNow))))
                      .execute()
                  == 1;
          if (isNews) {
            EventStore.append(sql, id, actor, "renamed", detail);
          }
          return isNews;
        });
  }

  void children(long id, List<Child> children) {
    database.write(
        "table migration children",
        sql ->
            sql.update(TABLE_MIGRATION)
                .set(TABLE_MIGRATION.CHILDREN, JSONB.valueOf(RunRowTable.json(children)))
                .where(TABLE_MIGRATION.MIGRATION_ID.eq(id))
                .execute());
  }

  /** Keeps how often the statements of the applications were called before the switch. */
  void switched(long id, Map<String, Long> calls) {
    database.write(
        "table migration switch",
        sql ->
            sql.update(TABLE_MIGRATION)
                .set(TABLE_MIGRATION.SWITCHED_AT, currentInstant())
                .set(TABLE_MIGRATION.CALLS_BEFORE_SWITCH, JSONB.valueOf(RunRowTable.json(calls)))
                .where(TABLE_MIGRATION.MIGRATION_ID.eq(id))
                .execute());
  }

  Optional<Journal.Switched> switched(long id) {
    return database.read(
        "table migration switch",
        sql ->
            sql.select(TABLE_MIGRATION.SWITCHED_AT, TABLE_MIGRATION.CALLS_BEFORE_SWITCH)
                .from(TABLE_MIGRATION)
                .where(TABLE_MIGRATION.MIGRATION_ID.eq(id))
                .and(TABLE_MIGRATION.SWITCHED_AT.isNotNull())
                .fetchOptional(
                    row ->
                        new Journal.Switched(
                            row.value1(), RunRowTable.calls(row.value2().data()))));
  }

  void report(long id, String json) {
    database.write(
        "table migration report",
        sql ->
            sql.update(TABLE_MIGRATION)
                .set(TABLE_MIGRATION.REPORT, JSONB.valueOf(json))
                .where(TABLE_MIGRATION.MIGRATION_ID.eq(id))
                .execute());
  }

  /** All rows have keys: those that look-ups had filled are not waited for. */
  void filled(long id) {
    database.write(
        "table migration",
        sql ->
            sql.update(TABLE_MIGRATION)
                .set(TABLE_MIGRATION.ROWS_TOTAL, TABLE_MIGRATION.ROWS_DONE)
                .where(TABLE_MIGRATION.MIGRATION_ID.eq(id))
                .execute());
  }
}
