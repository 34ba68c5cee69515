package dev.coatcheck.migrate.run;

import dev.coatcheck.migrate.backfill.SetAside;
import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.migrate.steps.Phase;
import dev.coatcheck.migrate.throttle.ThrottleSettings;
import dev.coatcheck.postgres.session.LockWait;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A run: one table on its way to Snowflake keys.
 *
 * @param accepted preconditions that the caller has accepted
 * @param report of the last verification, as JSON
 */
public record TableMigration(
    long id,
    String source,
    Target target,
    int typeNumber,
    boolean keepPrimaryKey,
    Plan plan,
    Status status,
    ThrottleSettings throttleSettings,
    List<String> accepted,
    Progress progress,
    @Nullable String report,
    Times times) {

  /**
   * Where it is, and where it is going.
   *
   * @param occupies whether something of it is on the table, or about to be
   * @param reason why it waits, failed or was paused
   * @param waitsFor what in the source it waits for
   */
  public record Status(
      RunState state,
      boolean occupies,
      Goal goal,
      Optional<Phase> undoPhase,
      Optional<String> reason,
      Optional<LockWait> waitsFor) {

    Status to(RunState next) {
      return new Status(next, occupies, goal, undoPhase, Optional.empty(), Optional.empty());
    }

    Status because(String why) {
      return new Status(state, occupies, goal, undoPhase, Optional.of(why), waitsFor);
    }

    Status towards(Goal next, Optional<Phase> phase) {
      return new Status(state, occupies, next, phase, reason, waitsFor);
    }

    Status occupying(boolean now) {
      return new Status(state, now, goal, undoPhase, reason, waitsFor);
    }
  }

  /** When it was planned, first started, and ended. */
  public record Times(Instant createdAt, Optional<Instant> startedAt, Optional<Instant> endedAt) {}

  /** A step's state; an error if it failed. */
  public record StepStatus(
      Phase phase, String name, StepState state, Optional<String> error, Optional<Instant> at) {}

  /** A run with its steps and the first hundred rows that were set aside. */
  public record Whole(TableMigration run, List<StepStatus> steps, List<SetAside> setAside) {}

  TableMigration at(Target now) {
    return new TableMigration(
        id,
        source,
        now,
        typeNumber,
        keepPrimaryKey,
        plan,
        status,
        throttleSettings,
        accepted,
        progress,
        report,
        times);
  }

  TableMigration with(Status next) {
    return new TableMigration(
        id,
        source,
        target,
        typeNumber,
        keepPrimaryKey,
        plan,
        next,
        throttleSettings,
        accepted,
        progress,
        report,
        times);
  }

  TableMigration with(ThrottleSettings next) {
    return new TableMigration(
        id,
        source,
        target,
        typeNumber,
        keepPrimaryKey,
        plan,
        status,
        next,
        accepted,
        progress,
        report,
        times);
  }

  TableMigration accepting(List<String> codes) {
    return new TableMigration(
        id,
        source,
        target,
        typeNumber,
        keepPrimaryKey,
        plan,
        status,
        throttleSettings,
        codes,
        progress,
        report,
        times);
  }
}
