package dev.coatcheck.migrate.run;

import static dev.coatcheck.postgres.sql.schema.Tables.TABLE_MIGRATION_STEP;
import static org.jooq.impl.DSL.coalesce;
import static org.jooq.impl.DSL.currentInstant;
import static org.jooq.impl.DSL.max;
import static org.jooq.impl.DSL.select;

import dev.coatcheck.core.name.WireNamed;
import dev.coatcheck.migrate.relay.ActiveTables.ActiveTable;
import dev.coatcheck.migrate.run.TableMigration.StepStatus;
import dev.coatcheck.migrate.table.Phase;
import dev.coatcheck.migrate.table.Step;
import dev.coatcheck.postgres.sql.Database;
import java.util.List;
import java.util.Optional;
import org.jooq.DSLContext;

/** The rows of steps: how far each run has come, as its runners wrote it down. */
final class StepStore {

  private final Database database;

  StepStore(Database database) {
    this.database = database;
  }

  /** All as they are before the start. */
  static void insert(DSLContext sql, long id, List<Step> steps) {
    for (int i = 0; i < steps.size(); i++) {
      sql.insertInto(TABLE_MIGRATION_STEP)
          .set(TABLE_MIGRATION_STEP.MIGRATION_ID, id)
          .set(TABLE_MIGRATION_STEP.ORDINAL, i)
          .set(TABLE_MIGRATION_STEP.PHASE, steps.get(i).phase().wireName())
          .set(TABLE_MIGRATION_STEP.NAME, steps.get(i).name())
          .execute();
    }
  }

  List<StepStatus> steps(long id) {
    return database.read("table migration steps", sql -> steps(sql, id));
  }

  static List<StepStatus> steps(DSLContext sql, long id) {
    return sql.selectFrom(TABLE_MIGRATION_STEP)
        .where(TABLE_MIGRATION_STEP.MIGRATION_ID.eq(id))
        .orderBy(TABLE_MIGRATION_STEP.ORDINAL)
        .fetch(
            row ->
                new StepStatus(
                    WireNamed.find(Phase.class, row.getPhase()).orElseThrow(),
                    row.getName(),
                    WireNamed.find(StepState.class, row.getState()).orElseThrow(),
                    Optional.ofNullable(row.getError()),
                    Optional.ofNullable(row.getChangedAt())));
  }

  /** Also of a step that the run didn't have when it was planned, by an earlier version. */
  void step(long id, Step step, StepState state, Optional<String> error) {
    database.write(
        "table migration step",
        sql -> {
          int written =
              sql.update(TABLE_MIGRATION_STEP)
                  .set(TABLE_MIGRATION_STEP.STATE, state.wireName())
                  .set(TABLE_MIGRATION_STEP.ERROR, error.orElse(null))
                  .set(TABLE_MIGRATION_STEP.CHANGED_AT, currentInstant())
                  .where(TABLE_MIGRATION_STEP.MIGRATION_ID.eq(id))
                  .and(TABLE_MIGRATION_STEP.PHASE.eq(step.phase().wireName()))
                  .and(TABLE_MIGRATION_STEP.NAME.eq(step.name()))
                  .execute();
          return written == 1
              || sql.insertInto(TABLE_MIGRATION_STEP)
                      .set(TABLE_MIGRATION_STEP.MIGRATION_ID, id)
                      .set(
                          TABLE_MIGRATION_STEP.ORDINAL,
                          select(coalesce(max(TABLE_MIGRATION_STEP.ORDINAL), -1).add(1))
                              .from(TABLE_MIGRATION_STEP)
                              .where(TABLE_MIGRATION_STEP.MIGRATION_ID.eq(id)))
                      .set(TABLE_MIGRATION_STEP.PHASE, step.phase().wireName())
                      .set(TABLE_MIGRATION_STEP.NAME, step.name())
                      .set(TABLE_MIGRATION_STEP.STATE, state.wireName())
                      .set(TABLE_MIGRATION_STEP.ERROR, error.orElse(null))
                      .set(TABLE_MIGRATION_STEP.CHANGED_AT, currentInstant())
                      .execute()
                  == 1;
        });
  }

  /** What the steps say of a run that occupies its table. */
  ActiveTable active(TableMigration run) {
    List<StepStatus> steps = steps(run.id());
    return new ActiveTable(
        run.id(),
        run.source(),
        run.target(),
        run.typeNumber(),
        StepStatus.ofExpand(steps, Step.DUAL_WRITE).isBegun(),
        StepStatus.ofExpand(steps, Step.PREPARE).isBegun(),
        new StepStates(steps).isContracted());
  }
}
