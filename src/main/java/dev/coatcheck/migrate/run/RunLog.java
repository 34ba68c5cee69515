package dev.coatcheck.migrate.run;

import dev.coatcheck.migrate.table.LockTime;
import dev.coatcheck.migrate.table.Step;
import dev.coatcheck.migrate.table.StepOutcome;
import java.util.Optional;

/** Writes down what a runner does with the steps of a run, and how it ends. */
final class RunLog {
  private final JournalTable journal;
  private final Heartbeat heartbeat;

  RunLog(JournalTable journal, Heartbeat heartbeat) {
    this.journal = journal;
    this.heartbeat = heartbeat;
  }

  void begun(TableMigration run, Step step) {
    journal.event(run, "step_started", name(step));
  }

  /**
   * Records the outcome of a step.
   *
   * @param done the state of the step if nothing has failed
   * @param kind of the event in that case
   * @return false if the run failed with it
   */
  boolean settle(TableMigration run, Step step, StepOutcome outcome, StepState done, String kind) {
    return switch (outcome) {
      case StepOutcome.Done(Optional<LockTime> locks) -> {
        journal.step(run, step, done, Optional.empty());
        journal.event(run, kind, name(step) + locks.map(time -> ": " + time.text()).orElse(""));
        yield true;
      }
      case StepOutcome.Failed(String reason) -> {
        journal.step(run, step, StepState.FAILED, Optional.of(reason));
        fail(run, name(step) + ": " + reason);
        yield false;
      }
    };
  }

  /** Ends the last phase, or a verification after it: there is nothing that a retry could do. */
  void contracted(TableMigration run, StepOutcome outcome) {
    switch (outcome) {
      case StepOutcome.Failed(String reason) ->
          end(run, RunState.CONTRACTED, "verification_failed", reason);
      case StepOutcome.Done _ when run.status().goal() == Goal.VERIFY ->
          end(run, RunState.CONTRACTED, "verified", "Source and mappings agree.");
      case StepOutcome.Done _ ->
          end(
              run,
              RunState.CONTRACTED,
              "contracted",
              "The legacy IDs have left the table; the archive keeps them with their keys.");
    }
  }

  void end(TableMigration run, RunState state, String kind, String detail) {
    heartbeat.beat();
    journal.settle(run, state, kind, detail);
  }

  void fail(TableMigration run, String reason) {
    end(run, RunState.FAILED, "failed", reason);
  }

  private static String name(Step step) {
    return step.phase().wireName() + " " + step.name();
  }
}
