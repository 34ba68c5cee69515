package dev.coatcheck.migrate.run;

import static dev.coatcheck.postgres.sql.schema.Tables.PUBLIC_ID;
import static dev.coatcheck.postgres.sql.schema.Tables.TABLE_MIGRATION;
import static dev.coatcheck.postgres.sql.schema.Tables.TABLE_MIGRATION_EVENT;
import static dev.coatcheck.postgres.sql.schema.Tables.TABLE_MIGRATION_LOAD;
import static dev.coatcheck.postgres.sql.schema.Tables.TABLE_MIGRATION_STEP;
import static dev.coatcheck.postgres.sql.schema.Tables.TYPE;
import static java.util.Objects.requireNonNull;
import static org.jooq.impl.DSL.currentInstant;

import dev.coatcheck.core.observe.Event;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.ids.idempotency.IdempotentResult;
import dev.coatcheck.migrate.relay.ActiveTables.ActiveTable;
import dev.coatcheck.migrate.run.LeaseTable.Claim;
import dev.coatcheck.migrate.run.TableMigration.StepStatus;
import dev.coatcheck.migrate.run.Transition.Decision;
import dev.coatcheck.migrate.source.Child;
import dev.coatcheck.migrate.source.TableName;
import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.migrate.table.OwnObjectsTable.Extent;
import dev.coatcheck.migrate.table.SetAside;
import dev.coatcheck.migrate.table.Step;
import dev.coatcheck.migrate.verify.Report;
import dev.coatcheck.postgres.sql.Database;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.jooq.Condition;
import org.jooq.Field;
import org.jooq.JSONB;
import org.jooq.Table;
import org.jooq.impl.DSL;

/**
 * What the gateway's database keeps of runs: their rows, steps, events, and rows that were set
 * aside. Actions on runs are written by {@link ActionTable}.
 */
public final class JournalTable {
  /** In one answer of {@link #events}. */
  public static final int EVENTS_MAX = 1_000;

  /** In one answer of {@link #list} or {@link #setAside}. */
  public static final int LISTED_MAX = 100;

  /** The event of a contracted run that does not fail with its verification. */
  static final String VERIFICATION_FAILED = "verification_failed";

  private final Database gateway;
  private final ActionTable actions;
  private final Observer observer;
  private final String holder;

  /**
   * Reads and writes in the gateway's database.
   *
   * @param holder names this instance in events
   */
  public JournalTable(Database gateway, Observer observer, String holder) {
    this.gateway = gateway;
    this.actions = new ActionTable(gateway);
    this.observer = observer;
    this.holder = holder;
  }

  public Optional<TableMigration> find(long id) {
    return gateway.read(
        "table migration",
        sql ->
            sql.fetchOptional(TABLE_MIGRATION, TABLE_MIGRATION.MIGRATION_ID.eq(id))
                .map(RunRowTable::run));
  }

  /** The last hundred runs, newest first. */
  public List<TableMigration> list() {
    return before(Long.MAX_VALUE, LISTED_MAX);
  }

  /** The last runs before one, newest first. */
  public List<TableMigration> before(long id, int limit) {
    return gateway.read(
        "table migrations",
        sql ->
            sql.selectFrom(TABLE_MIGRATION)
                .where(TABLE_MIGRATION.MIGRATION_ID.lt(id))
                .orderBy(TABLE_MIGRATION.MIGRATION_ID.desc())
                .limit(limit)
                .fetch(RunRowTable::run));
  }

  /**
   * All runs of a table, in every state. They have one archive, also after the table was renamed.
   *
   * @param first its first name
   */
  List<TableMigration> of(String source, TableName first) {
    return runs(
        TABLE_MIGRATION
            .SOURCE
            .eq(source)
            .and(TABLE_MIGRATION.FIRST_SCHEMA.eq(first.schema()))
            .and(TABLE_MIGRATION.FIRST_NAME.eq(first.table())));
  }

  /** All runs of a type on tables of a source, in every state. */
  List<TableMigration> of(String source, int typeNumber) {
    return runs(TABLE_MIGRATION.SOURCE.eq(source).and(TABLE_MIGRATION.TYPE_ID.eq(typeNumber)));
  }

  private List<TableMigration> occupying() {
    return runs(DSL.condition("occupies"));
  }

  private List<TableMigration> runs(Condition which) {
    return gateway.read(
        "table migrations",
        sql ->
            sql.selectFrom(TABLE_MIGRATION)
                .where(which)
                .orderBy(TABLE_MIGRATION.MIGRATION_ID)
                .fetch(RunRowTable::run));
  }

  /** Whether a run of the type has something on its table. */
  boolean occupies(int typeNumber) {
    return occupying().stream().anyMatch(run -> run.typeNumber() == typeNumber);
  }

  public List<ActiveTable> activeTables() {
    return occupying().stream().map(this::active).toList();
  }

  private ActiveTable active(TableMigration run) {
    StepStates states = states(run.id());
    return new ActiveTable(
        run.id(),
        run.source(),
        run.target(),
        run.typeNumber(),
        states.ofExpand(Step.DUAL_WRITE).isBegun(),
        states.ofExpand(Step.PREPARE).isBegun(),
        states.isContracted());
  }

  /** Whether a file gave keys for the run. */
  boolean hasImported(long id) {
    return gateway.read(
        "table migration",
        sql ->
            sql.fetchExists(
                TABLE_MIGRATION,
                TABLE_MIGRATION.MIGRATION_ID.eq(id).and(TABLE_MIGRATION.IMPORTED_ID.isNotNull())));
  }

  /** Keeps the names that a table has now, with one event for each change. */
  void renamed(long id, Target before, Target now) {
    String detail =
        "The table is %s now, and its key %s.".formatted(now.table().text(), now.keyColumn());
    String createdAt = now.createdAt().map(Target.TimeColumn::name).orElse(null);
    JSONB childrenNow = JSONB.valueOf(RunRowTable.json(now.children()));
    // Unless they are others meanwhile than those whose names were looked up.
    Condition areChildrenKnown =
        TABLE_MIGRATION.CHILDREN.eq(JSONB.valueOf(RunRowTable.json(before.children())));
    boolean isRenamed =
        gateway.write(
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
                                  .or(
                                      areChildrenKnown.and(
                                          TABLE_MIGRATION.CHILDREN.ne(childrenNow))))
                          .execute()
                      == 1;
              if (isNews) {
                EventTable.append(sql, id, holder, "renamed", detail);
              }
              return isNews;
            });
    if (isRenamed) {
      observer.observe(new Event.TableMigrated(now.table().text(), "renamed", detail));
    }
  }

  void children(TableMigration run, List<Child> children) {
    set(run, Map.of(TABLE_MIGRATION.CHILDREN, JSONB.valueOf(RunRowTable.json(children))));
  }

  /**
   * @param calls of the applications' statements before it, by their IDs
   */
  record Switched(Instant at, Map<String, Long> calls) {}

  /** Keeps how often the statements of the applications were called before the switch. */
  void switched(TableMigration run, Map<String, Long> calls) {
    set(
        run,
        Map.of(
            TABLE_MIGRATION.SWITCHED_AT,
            currentInstant(),
            TABLE_MIGRATION.CALLS_BEFORE_SWITCH,
            JSONB.valueOf(RunRowTable.json(calls))));
  }

  Optional<Switched> switched(long id) {
    return gateway.read(
        "table migration switch",
        sql ->
            sql.select(TABLE_MIGRATION.SWITCHED_AT, TABLE_MIGRATION.CALLS_BEFORE_SWITCH)
                .from(TABLE_MIGRATION)
                .where(TABLE_MIGRATION.MIGRATION_ID.eq(id))
                .and(TABLE_MIGRATION.SWITCHED_AT.isNotNull())
                .fetchOptional(
                    row -> new Switched(row.value1(), RunRowTable.calls(row.value2().data()))));
  }

  void report(TableMigration run, Report report) {
    set(run, Map.of(TABLE_MIGRATION.REPORT, JSONB.valueOf(RunRowTable.json(report))));
  }

  /** All rows have keys: those that look-ups had filled are not waited for. */
  void filled(TableMigration run) {
    set(run, Map.of(TABLE_MIGRATION.ROWS_TOTAL, TABLE_MIGRATION.ROWS_DONE));
  }

  private void set(TableMigration run, Map<Field<?>, Object> columns) {
    gateway.write(
        "table migration",
        sql ->
            sql.update(TABLE_MIGRATION)
                .set(columns)
                .where(TABLE_MIGRATION.MIGRATION_ID.eq(run.id()))
                .execute());
  }

  public List<StepStatus> steps(long id) {
    return gateway.read("table migration steps", sql -> StepTable.of(sql, id));
  }

  public StepStates states(long id) {
    return new StepStates(steps(id));
  }

  /** By the clock of Postgres, which is the same for all instances. */
  Instant now() {
    return gateway.read(
        "table migration clock",
        sql -> requireNonNull(sql.select(currentInstant()).fetchSingle().value1()));
  }

  /** Whether source and mappings agreed no longer ago than {@code ageMax}. */
  boolean isVerified(TableMigration run, Duration ageMax) {
    return gateway.read(
        "table migration steps", sql -> StepTable.isVerified(sql, run.id(), ageMax));
  }

  /** Which objects of a run have to be in its source. */
  Extent extent(TableMigration run) {
    StepStates states = states(run.id());
    if (states.ofExpand(Step.DUAL_WRITE).isApplied()) {
      return Extent.ON_TABLE;
    }
    return states.ofExpand(Step.PREPARE).isApplied() ? Extent.PREPARED : Extent.NONE;
  }

  void step(TableMigration run, Step step, StepState state, Optional<String> error) {
    gateway.write("table migration step", sql -> StepTable.set(sql, run.id(), step, state, error));
  }

  /** At most a thousand after a number, oldest first; from the first if the number lies ahead. */
  public List<RunEvent> events(long id, long after) {
    return gateway.read("table migration events", sql -> EventTable.after(sql, id, after));
  }

  /** The last hundred before a number, newest first. */
  public List<RunEvent> eventsBefore(long id, long number) {
    return gateway.read("table migration events", sql -> EventTable.before(sql, id, number));
  }

  /** What its runners saw of a backfill and its source within an hour, oldest first. */
  public List<LoadSample> load(long id) {
    return gateway.read(
        "table migration load",
        sql ->
            sql.selectFrom(TABLE_MIGRATION_LOAD)
                .where(TABLE_MIGRATION_LOAD.MIGRATION_ID.eq(id))
                .orderBy(TABLE_MIGRATION_LOAD.AT)
                .fetch(
                    row ->
                        new LoadSample(
                            row.getAt(),
                            row.getRowsDone(),
                            Optional.ofNullable(row.getReplicaLagSeconds()),
                            Optional.ofNullable(row.getWalBytes()),
                            Optional.ofNullable(row.getReason()))));
  }

  /** Records what this instance did or met. */
  void event(TableMigration run, String kind, String detail) {
    event(run.id(), run.target(), kind, detail);
  }

  /** The same for a run of which only the table is known. */
  void event(long id, Target target, String kind, String detail) {
    note(id, holder, kind, detail);
    observer.observe(new Event.TableMigrated(target.table().text(), kind, detail));
  }

  /** Records what an actor did to a run from outside, such as an import of its mappings. */
  void note(long id, String actor, String kind, String detail) {
    gateway.write(
        "table migration event",
        sql -> {
          EventTable.append(sql, id, actor, kind, detail);
          return true;
        });
  }

  /** Whether the rows of a table have keys of the type alone, also after a retirement. */
  boolean hasContracted(int typeNumber) {
    return hasRun(
        typeNumber,
        TABLE_MIGRATION_STEP,
        TABLE_MIGRATION_STEP
            .NAME
            .eq(Step.DROP_COLUMNS)
            .and(TABLE_MIGRATION_STEP.STATE.eq(StepState.VERIFIED.wireName())));
  }

  /** Whether keys that public IDs of the type have were forgotten at their source. */
  boolean hasForgotten(int typeNumber) {
    return hasRun(typeNumber, TABLE_MIGRATION_EVENT, TABLE_MIGRATION_EVENT.KIND.eq("forget"));
  }

  /** Whether the type gets no new public IDs, as of now: the registry may be seconds behind. */
  boolean isRetired(int typeNumber) {
    return gateway.read(
        "type",
        sql -> sql.fetchExists(TYPE, TYPE.TYPE_ID.eq(typeNumber).and(TYPE.RETIRED_AT.isNotNull())));
  }

  /** Whether a run whose keys public IDs of the type have has such a step or event. */
  private boolean hasRun(int typeNumber, Table<?> rows, Condition which) {
    return gateway.read(
        "table migrations",
        sql ->
            sql.fetchExists(
                sql.selectOne()
                    .from(TABLE_MIGRATION)
                    .join(rows)
                    .using(TABLE_MIGRATION.MIGRATION_ID)
                    .where(TABLE_MIGRATION.TYPE_ID.eq(typeNumber))
                    .and(which)
                    .andExists(
                        sql.selectOne().from(PUBLIC_ID).where(PUBLIC_ID.TYPE_ID.eq(typeNumber)))));
  }

  /** The first hundred rows that are still to be filled; the source keeps all of them. */
  public List<SetAside> setAside(long id) {
    return gateway.read("rows set aside", sql -> SetAsideTable.of(sql, id));
  }

  /** Replaces the rows that are set aside, unless another runner has taken over. */
  void setAside(Claim claim, List<SetAside> rows) {
    gateway.write(
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
            SetAsideTable.delete(sql, claim.id());
            rows.forEach(row -> SetAsideTable.insert(sql, claim.id(), row));
          }
          return isOurs;
        });
  }

  /**
   * Ends the goal of a runner, unless a caller has set another goal, or extent of an undo, since.
   */
  void settle(TableMigration run, RunState state, String kind, String detail) {
    settle(
        run,
        now -> {
          TableMigration.Status next = now.status().to(state);
          boolean isFault = state == RunState.FAILED || kind.equals(VERIFICATION_FAILED);
          return now.with(isFault ? next.because(detail) : next);
        },
        kind,
        detail);
  }

  private void settle(
      TableMigration run, UnaryOperator<TableMigration> change, String kind, String detail) {
    IdempotentResult<ActionOutcome> result =
        actions.decide(
            run.id(),
            ActionRequest.by(holder),
            now -> {
              if (now.status().state() != RunState.RUNNING
                  || now.status().goal() != run.status().goal()
                  || !now.status().undoPhase().equals(run.status().undoPhase())) {
                return Decision.refuse(now, "It was stopped.");
              }
              return new Decision.Change(change.apply(now), kind, detail);
            });
    if (result instanceof IdempotentResult.Unkeyed<ActionOutcome>(ActionOutcome.Done _)) {
      observer.observe(new Event.TableMigrated(run.target().table().text(), kind, detail));
    }
  }

  /** Ends an undo of everything: nothing of the run, and no key kept for a row, is on the table. */
  void undone(TableMigration run) {
    gateway.write(
        "rows set aside",
        sql -> {
          boolean isUndoing =
              sql.update(TABLE_MIGRATION)
                      .set(TABLE_MIGRATION.ROWS_SET_ASIDE, 0L)
                      .where(TABLE_MIGRATION.MIGRATION_ID.eq(run.id()))
                      .and(TABLE_MIGRATION.STATE.eq(RunState.RUNNING.wireName()))
                      .and(TABLE_MIGRATION.GOAL.eq(Goal.UNDO.wireName()))
                      .execute()
                  == 1;
          if (isUndoing) {
            SetAsideTable.delete(sql, run.id());
          }
          return isUndoing;
        });
    settle(
        run,
        now -> now.with(now.status().to(RunState.CANCELLED).occupying(false)),
        "undone",
        "Nothing of the run is on the table; the archive keeps the keys.");
  }
}
