package dev.coatcheck.migrate.run;

import static dev.coatcheck.postgres.sql.schema.Tables.TABLE_MIGRATION_STEP;
import static org.jooq.impl.DSL.coalesce;
import static org.jooq.impl.DSL.currentInstant;
import static org.jooq.impl.DSL.field;
import static org.jooq.impl.DSL.max;
import static org.jooq.impl.DSL.select;
import static org.jooq.impl.DSL.val;

import dev.coatcheck.core.name.WireNamed;
import dev.coatcheck.migrate.run.TableMigration.StepStatus;
import dev.coatcheck.migrate.table.Phase;
import dev.coatcheck.migrate.table.Step;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jooq.DSLContext;
import org.jooq.Field;

/** The rows of a run's steps, for use inside transactions. */
final class StepTable {
  private StepTable() {}

  static List<StepStatus> of(DSLContext sql, long id) {
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

  /**
   * Whether source and mappings agreed no longer ago than {@code ageMax}, by the clock that dated
   * it. A time ahead of that clock, which was set back since, is no proof.
   */
  static boolean isVerified(DSLContext sql, long id, Duration ageMax) {
    Field<Instant> oldest =
        field(
            "now() - make_interval(secs => {0})",
            TABLE_MIGRATION_STEP.CHANGED_AT.getDataType(), val(ageMax.toSeconds()));
    return sql.fetchExists(
        TABLE_MIGRATION_STEP,
        TABLE_MIGRATION_STEP.MIGRATION_ID.eq(id),
        TABLE_MIGRATION_STEP.PHASE.eq(Phase.VERIFY.wireName()),
        TABLE_MIGRATION_STEP.STATE.eq(StepState.VERIFIED.wireName()),
        TABLE_MIGRATION_STEP.CHANGED_AT.between(oldest, currentInstant()));
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

  /** Also of a step that the run didn't have when it was planned, by an earlier version. */
  static boolean set(DSLContext sql, long id, Step step, StepState state, Optional<String> error) {
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
  }
}
