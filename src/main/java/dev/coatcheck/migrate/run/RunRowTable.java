package dev.coatcheck.migrate.run;

import static dev.coatcheck.postgres.sql.schema.Tables.TABLE_MIGRATION;
import static org.jooq.impl.DSL.currentInstant;
import static org.jooq.impl.DSL.val;

import dev.coatcheck.core.name.WireNamed;
import dev.coatcheck.migrate.plan.Plan;
import dev.coatcheck.migrate.plan.PlanRequest;
import dev.coatcheck.migrate.plan.Proposal;
import dev.coatcheck.migrate.source.Child;
import dev.coatcheck.migrate.source.SearchPath;
import dev.coatcheck.migrate.source.TableName;
import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.migrate.source.ThrottleSettings;
import dev.coatcheck.migrate.table.Checkpoint;
import dev.coatcheck.migrate.table.Phase;
import dev.coatcheck.postgres.session.LockWait;
import dev.coatcheck.postgres.sql.schema.tables.records.TableMigrationRecord;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jooq.DSLContext;
import org.jooq.JSONB;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.json.JsonMapper;

/** The row of a run: the run that it holds, and how a run is written. */
final class RunRowTable {
  private static final JsonMapper JSON = new JsonMapper();

  private RunRowTable() {}

  /** As the database keeps plans, throttle settings and reports. */
  static String json(Object value) {
    return JSON.writeValueAsString(value);
  }

  static <T> T read(String json, Class<T> type) {
    return JSON.readValue(json, type);
  }

  static Optional<Phase> undoPhase(@Nullable String name) {
    return Optional.ofNullable(name).flatMap(known -> WireNamed.find(Phase.class, known));
  }

  /** Of statements, by their IDs. */
  static Map<String, Long> calls(String json) {
    return JSON.readValue(json, new TypeReference<Map<String, Long>>() {});
  }

  static TableMigration run(TableMigrationRecord row) {
    Optional<Target.TimeColumn> createdAt =
        Optional.ofNullable(row.getCreatedAtColumn())
            .map(name -> new Target.TimeColumn(name, String.valueOf(row.getCreatedAtType())));
    return new TableMigration(
        row.getMigrationId(),
        row.getSource(),
        new Target(
            row.getRun(),
            new TableName(row.getTableSchema(), row.getTableName()),
            row.getTableOid(),
            row.getKeyColumn(),
            row.getKeyType(),
            createdAt,
            new Target.Anchors(
                new TableName(row.getFirstSchema(), row.getFirstName()),
                row.getKeyAttnum(),
                Objects.requireNonNullElse(row.getCreatedAtAttnum(), 0)),
            SearchPath.parse(row.getApplicationPath()).orElseThrow(),
            List.of(read(row.getChildren().data(), Child[].class))),
        row.getTypeId(),
        row.getKeepPrimaryKey(),
        read(row.getPlan().data(), Plan.class),
        new TableMigration.Status(
            WireNamed.find(RunState.class, row.getState()).orElseThrow(),
            row.getOccupies(),
            WireNamed.find(Goal.class, row.getGoal()).orElseThrow(),
            undoPhase(row.getUndoPhase()),
            Optional.ofNullable(row.getReason()),
            Optional.ofNullable(row.getWaitsFor()).map(wait -> read(wait.data(), LockWait.class))),
        read(row.getThrottleSettings().data(), ThrottleSettings.class),
        List.of(row.getAccepted()),
        new Progress(
            row.getRowsTotal(),
            row.getWorkedMillis(),
            new Checkpoint.Counts(
                row.getRowsDone(),
                row.getTimesLost(),
                row.getBeforeEpoch(),
                row.getRowsSetAside())),
        row.getReport() == null ? null : row.getReport().data(),
        new SwitchWindow(
            Optional.ofNullable(row.getSwitchNotBefore()),
            Optional.ofNullable(row.getSwitchNotAfter())),
        new TableMigration.Times(
            row.getCreatedAt(),
            Optional.ofNullable(row.getStartedAt()),
            Optional.ofNullable(row.getEndedAt())));
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
        .set(TABLE_MIGRATION.CHILDREN, JSONB.valueOf(json(target.children())))
        .set(TABLE_MIGRATION.TYPE_ID, request.type().number())
        .set(TABLE_MIGRATION.KEEP_PRIMARY_KEY, request.table().keepPrimaryKey())
        .set(TABLE_MIGRATION.PLAN, JSONB.valueOf(json(proposal.plan())))
        .set(TABLE_MIGRATION.THROTTLE_SETTINGS, JSONB.valueOf(json(ThrottleSettings.DEFAULT)))
        .set(TABLE_MIGRATION.ROWS_TOTAL, proposal.plan().rows())
        .returning()
        .fetchSingle(RunRowTable::run);
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
        .set(TABLE_MIGRATION.THROTTLE_SETTINGS, JSONB.valueOf(json(run.throttleSettings())))
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
}
