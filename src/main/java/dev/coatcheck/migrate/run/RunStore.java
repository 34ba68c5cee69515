package dev.coatcheck.migrate.run;

import static dev.coatcheck.postgres.sql.schema.Tables.TABLE_MIGRATION;
import static dev.coatcheck.postgres.sql.schema.Tables.TABLE_MIGRATION_SET_ASIDE;
import static org.jooq.impl.DSL.field;
import static org.jooq.impl.DSL.val;

import dev.coatcheck.ids.idempotency.IdempotentCallTable;
import dev.coatcheck.ids.idempotency.IdempotentResult;
import dev.coatcheck.migrate.backfill.Checkpoint;
import dev.coatcheck.migrate.backfill.SetAside;
import dev.coatcheck.migrate.run.TableMigrations.Asked;
import dev.coatcheck.migrate.source.SearchPath;
import dev.coatcheck.migrate.source.TableName;
import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.migrate.steps.Phase;
import dev.coatcheck.migrate.steps.Step;
import dev.coatcheck.migrate.throttle.ThrottleSettings;
import dev.coatcheck.postgres.connection.SqlState;
import dev.coatcheck.postgres.session.LockWait;
import dev.coatcheck.postgres.sql.Database;
import dev.coatcheck.postgres.sql.schema.tables.records.TableMigrationRecord;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.jooq.DSLContext;
import org.jooq.Field;
import org.jooq.JSONB;
import org.jooq.exception.DataAccessException;
import tools.jackson.databind.json.JsonMapper;

/** The rows of runs: what people asked for, and what came of it. */
final class RunStore {
  private static final JsonMapper JSON = new JsonMapper();
  private static final Field<Instant> NOW = field("now()", Instant.class);
  static final int LISTED_MAX = 100;

  /** Each run that is on a table has it, and its type, for itself. */
  private static final String ONE_PER_TABLE = "table_migration_one_per_table";

  private static final String ONE_PER_TYPE = "table_migration_one_per_type";

  private final Database database;

  RunStore(Database database) {
    this.database = database;
  }

  /** As the database keeps plans, throttle settings and reports. */
  static String json(Object value) {
    return JSON.writeValueAsString(value);
  }

  static <T> T read(String json, Class<T> type) {
    return JSON.readValue(json, type);
  }

  /** A decision about a run that is locked. */
  sealed interface Decision {
    /** To be written, with an event. */
    record Change(TableMigration run, String kind, String detail) implements Decision {}

    record Refuse(ActionOutcome outcome) implements Decision {}
  }

  /** What the request's Idempotency-Key says already. */
  <T> Optional<IdempotentResult<T>> answered(Asked<T> asked) {
    return IdempotentCallTable.answered(database, asked.once());
  }

  /** Changes nothing; keeps the refusal if the request has an Idempotency-Key. */
  <T> IdempotentResult<T> refuse(Asked<T> asked, T refusal) {
    return asked.once().isEmpty()
        ? new IdempotentResult.Unkeyed<>(refusal)
        : IdempotentCallTable.write(database, "refusal", asked.once(), _ -> refusal);
  }

  /** Writes a new run with its steps and its first event. */
  IdempotentResult<PlanOutcome> insert(
      PlanRequest request, Target target, Plan plan, List<Step> steps, Asked<PlanOutcome> asked) {
    return IdempotentCallTable.write(
        database,
        "plan",
        asked.once(),
        sql -> {
          TableMigration run = insert(sql, request, target, plan);
          StepStore.insert(sql, run.id(), steps);
          EventStore.append(sql, run.id(), asked.actor(), "plan", target.table().text());
          return new PlanOutcome.Planned(whole(sql, run));
        });
  }

  private static TableMigration insert(
      DSLContext sql, PlanRequest request, Target target, Plan plan) {
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
        .set(TABLE_MIGRATION.CREATED_AT_ATTNUM, target.anchors().createdAtAttnum())
        .set(TABLE_MIGRATION.APPLICATION_PATH, target.applicationPath().text())
        .set(TABLE_MIGRATION.TYPE_ID, request.type().number())
        .set(TABLE_MIGRATION.KEEP_PRIMARY_KEY, request.keepPrimaryKey())
        .set(TABLE_MIGRATION.PLAN, JSONB.valueOf(json(plan)))
        .set(TABLE_MIGRATION.THROTTLE_SETTINGS, JSONB.valueOf(json(ThrottleSettings.DEFAULT)))
        .set(TABLE_MIGRATION.ROWS_TOTAL, plan.rows())
        .returning()
        .fetchSingle(RunStore::run);
  }

  Optional<TableMigration> find(long id) {
    return database.read(
        "table migration",
        sql ->
            sql.selectFrom(TABLE_MIGRATION)
                .where(TABLE_MIGRATION.MIGRATION_ID.eq(id))
                .fetchOptional(RunStore::run));
  }

  /** Whether a file gave keys for it. */
  boolean hasImported(long id) {
    return database.read(
        "table migration",
        sql ->
            sql.fetchExists(
                TABLE_MIGRATION,
                TABLE_MIGRATION.MIGRATION_ID.eq(id).and(TABLE_MIGRATION.IMPORTED_ID.gt(0L))));
  }

  /** The last ones, newest first. */
  List<TableMigration> list() {
    return database.read(
        "table migrations",
        sql ->
            sql.selectFrom(TABLE_MIGRATION)
                .orderBy(TABLE_MIGRATION.MIGRATION_ID.desc())
                .limit(LISTED_MAX)
                .fetch(RunStore::run));
  }

  /** Those of one table, whatever became of them. */
  List<TableMigration> of(String source, TableName table) {
    return database.read(
        "table migrations",
        sql ->
            sql.selectFrom(TABLE_MIGRATION)
                .where(TABLE_MIGRATION.SOURCE.eq(source))
                .and(TABLE_MIGRATION.TABLE_SCHEMA.eq(table.schema()))
                .and(TABLE_MIGRATION.TABLE_NAME.eq(table.table()))
                .orderBy(TABLE_MIGRATION.MIGRATION_ID)
                .fetch(RunStore::run));
  }

  /** Those that have something on their table. */
  List<TableMigration> occupying() {
    return database.read(
        "table migrations",
        sql -> sql.selectFrom(TABLE_MIGRATION).where("occupies").fetch(RunStore::run));
  }

  private static TableMigration.Whole whole(DSLContext sql, TableMigration run) {
    return new TableMigration.Whole(run, StepStore.steps(sql, run.id()), setAside(sql, run.id()));
  }

  /** Locks the run, asks, and writes the decision with its event. */
  IdempotentResult<ActionOutcome> decide(
      long id, Asked<ActionOutcome> asked, Function<TableMigration, Decision> decider) {
    try {
      return IdempotentCallTable.write(
          database,
          "table migration",
          asked.once(),
          sql -> decide(sql, id, asked.actor(), decider));
    } catch (DataAccessException refused) {
      if (SqlState.violates(refused, ONE_PER_TABLE) || SqlState.violates(refused, ONE_PER_TYPE)) {
        return refuse(asked, new ActionOutcome.Refused(List.of(Planner.BUSY)));
      }
      throw refused;
    }
  }

  private static ActionOutcome decide(
      DSLContext sql, long id, String actor, Function<TableMigration, Decision> decider) {
    Optional<TableMigration> run =
        sql.selectFrom(TABLE_MIGRATION)
            .where(TABLE_MIGRATION.MIGRATION_ID.eq(id))
            .forNoKeyUpdate()
            .fetchOptional(RunStore::run);
    if (run.isEmpty()) {
      return new ActionOutcome.NotFound();
    }
    return switch (decider.apply(run.get())) {
      case Decision.Refuse(ActionOutcome outcome) -> outcome;
      case Decision.Change(TableMigration next, String kind, String detail) -> {
        write(sql, next);
        EventStore.append(sql, id, actor, kind, detail);
        yield new ActionOutcome.Done(whole(sql, next));
      }
    };
  }

  private static void write(DSLContext sql, TableMigration run) {
    TableMigration.Status status = run.status();
    boolean started = status.state() != RunState.PLANNED && run.times().startedAt().isEmpty();
    boolean ended = status.state() == RunState.DONE || status.state() == RunState.CANCELLED;
    sql.update(TABLE_MIGRATION)
        .set(TABLE_MIGRATION.STATE, status.state().wireName())
        .set(TABLE_MIGRATION.OCCUPIES, status.occupies())
        .set(TABLE_MIGRATION.GOAL, status.goal().wireName())
        .set(TABLE_MIGRATION.UNDO_PHASE, status.undoPhase().map(Phase::wireName).orElse(null))
        .set(TABLE_MIGRATION.REASON, status.reason().orElse(null))
        .set(
            TABLE_MIGRATION.WAITS_FOR,
            status.waitsFor().map(RunStore::json).map(JSONB::valueOf).orElse(null))
        .set(TABLE_MIGRATION.THROTTLE_SETTINGS, JSONB.valueOf(json(run.throttleSettings())))
        .set(TABLE_MIGRATION.ACCEPTED, run.accepted().toArray(String[]::new))
        .set(TABLE_MIGRATION.STARTED_AT, started ? NOW : TABLE_MIGRATION.STARTED_AT)
        .set(TABLE_MIGRATION.ENDED_AT, ended ? NOW : val((Instant) null, TABLE_MIGRATION.ENDED_AT))
        .where(TABLE_MIGRATION.MIGRATION_ID.eq(run.id()))
        .execute();
  }

  /** Keeps the names that a table has now; false if they are known. */
  boolean renamed(long id, Target now, String actor, String detail) {
    String createdAt = now.createdAt().map(Target.TimeColumn::name).orElse(null);
    return database.write(
        "table migration names",
        sql -> {
          boolean isNews =
              sql.update(TABLE_MIGRATION)
                      .set(TABLE_MIGRATION.TABLE_SCHEMA, now.table().schema())
                      .set(TABLE_MIGRATION.TABLE_NAME, now.table().table())
                      .set(TABLE_MIGRATION.KEY_COLUMN, now.keyColumn())
                      .set(TABLE_MIGRATION.CREATED_AT_COLUMN, createdAt)
                      .where(TABLE_MIGRATION.MIGRATION_ID.eq(id))
                      .and(
                          TABLE_MIGRATION
                              .TABLE_SCHEMA
                              .ne(now.table().schema())
                              .or(TABLE_MIGRATION.TABLE_NAME.ne(now.table().table()))
                              .or(TABLE_MIGRATION.KEY_COLUMN.ne(now.keyColumn()))
                              .or(TABLE_MIGRATION.CREATED_AT_COLUMN.isDistinctFrom(createdAt)))
                      .execute()
                  == 1;
          if (isNews) {
            EventStore.append(sql, id, actor, "renamed", detail);
          }
          return isNews;
        });
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

  /** The first rows that the source keeps aside, unless another runner has taken over. */
  void setAside(LeaseStore.Claim claim, List<SetAside> rows) {
    database.write(
        "rows set aside",
        sql -> {
          boolean isOurs =
              sql.selectFrom(TABLE_MIGRATION)
                  .where(TABLE_MIGRATION.MIGRATION_ID.eq(claim.id()))
                  .and(TABLE_MIGRATION.FENCE.eq(claim.fence()))
                  .forNoKeyUpdate()
                  .fetchOptional()
                  .isPresent();
          if (isOurs) {
            sql.deleteFrom(TABLE_MIGRATION_SET_ASIDE)
                .where(TABLE_MIGRATION_SET_ASIDE.MIGRATION_ID.eq(claim.id()))
                .execute();
            rows.forEach(row -> insert(sql, claim.id(), row));
          }
          return isOurs;
        });
  }

  /** The keys that were kept for rows went with the table's objects. */
  void forgetSetAside(long id) {
    database.write(
        "rows set aside",
        sql -> {
          sql.deleteFrom(TABLE_MIGRATION_SET_ASIDE)
              .where(TABLE_MIGRATION_SET_ASIDE.MIGRATION_ID.eq(id))
              .execute();
          return sql.update(TABLE_MIGRATION)
              .set(TABLE_MIGRATION.ROWS_SET_ASIDE, 0L)
              .where(TABLE_MIGRATION.MIGRATION_ID.eq(id))
              .execute();
        });
  }

  private static void insert(DSLContext sql, long id, SetAside row) {
    sql.insertInto(TABLE_MIGRATION_SET_ASIDE)
        .set(TABLE_MIGRATION_SET_ASIDE.MIGRATION_ID, id)
        .set(TABLE_MIGRATION_SET_ASIDE.LEGACY_ID, row.legacy())
        .set(TABLE_MIGRATION_SET_ASIDE.KEY, row.key())
        .set(TABLE_MIGRATION_SET_ASIDE.CAUSE, row.cause().wireName())
        .set(TABLE_MIGRATION_SET_ASIDE.ERROR, row.error())
        .execute();
  }

  List<SetAside> setAside(long id) {
    return database.read("rows set aside", sql -> setAside(sql, id));
  }

  private static List<SetAside> setAside(DSLContext sql, long id) {
    return sql.selectFrom(TABLE_MIGRATION_SET_ASIDE)
        .where(TABLE_MIGRATION_SET_ASIDE.MIGRATION_ID.eq(id))
        .orderBy(TABLE_MIGRATION_SET_ASIDE.LEGACY_ID)
        .fetch(
            row ->
                new SetAside(
                    row.getLegacyId(),
                    row.getKey(),
                    SetAside.Cause.named(row.getCause()),
                    row.getError()));
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
                row.getCreatedAtAttnum()),
            SearchPath.parse(row.getApplicationPath()).orElseThrow()),
        row.getTypeId(),
        row.getKeepPrimaryKey(),
        read(row.getPlan().data(), Plan.class),
        new TableMigration.Status(
            RunState.named(row.getState()),
            row.getOccupies(),
            Goal.named(row.getGoal()),
            Optional.ofNullable(row.getUndoPhase()).flatMap(Phase::named),
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
        new TableMigration.Times(
            row.getCreatedAt(),
            Optional.ofNullable(row.getStartedAt()),
            Optional.ofNullable(row.getEndedAt())));
  }
}
