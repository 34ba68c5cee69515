package dev.coatcheck.migrate.run;

import dev.coatcheck.migrate.plan.Plan;
import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.migrate.source.ThrottleSettings;
import dev.coatcheck.migrate.table.Phase;
import dev.coatcheck.migrate.table.SetAside;
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
 * @param switchWindow of the last switch that was asked for
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
    SwitchWindow switchWindow,
    Times times) {

  /**
   * The state of a run, and what it works towards.
   *
   * @param occupies whether something of it is on the table, or will be
   * @param undoPhase the first phase that an undo takes back
   * @param reason why it waits, failed or was paused
   * @param waitsFor the lock in the source that it waits for
   */
  public record Status(
      RunState state,
      boolean occupies,
      Goal goal,
      Optional<Phase> undoPhase,
      Optional<String> reason,
      Optional<LockWait> waitsFor) {

    public Status to(RunState next) {
      return new Status(next, occupies, goal, undoPhase, Optional.empty(), Optional.empty());
    }

    public Status because(String why) {
      return new Status(state, occupies, goal, undoPhase, Optional.of(why), waitsFor);
    }

    public Status towards(Goal next, Optional<Phase> phase) {
      return new Status(state, occupies, next, phase, reason, waitsFor);
    }

    public Status occupying(boolean now) {
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

  public TableMigration at(Target now) {
    return copy(now, status, throttleSettings, accepted, switchWindow);
  }

  public TableMigration with(Status next) {
    return copy(target, next, throttleSettings, accepted, switchWindow);
  }

  public TableMigration with(ThrottleSettings next) {
    return copy(target, status, next, accepted, switchWindow);
  }

  public TableMigration accepting(List<String> codes) {
    return copy(target, status, throttleSettings, codes, switchWindow);
  }

  public TableMigration within(SwitchWindow window) {
    return copy(target, status, throttleSettings, accepted, window);
  }

  private TableMigration copy(
      Target at,
      Status in,
      ThrottleSettings within,
      List<String> withAccepted,
      SwitchWindow window) {
    return new TableMigration(
        id,
        source,
        at,
        typeNumber,
        keepPrimaryKey,
        plan,
        in,
        within,
        withAccepted,
        progress,
        report,
        window,
        times);
  }
}
