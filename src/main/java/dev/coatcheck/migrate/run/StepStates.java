package dev.coatcheck.migrate.run;

import dev.coatcheck.migrate.run.TableMigration.StepStatus;
import dev.coatcheck.migrate.table.Phase;
import dev.coatcheck.migrate.table.Step;
import java.util.List;
import java.util.Optional;

/** The states of a run's steps, as its runners recorded them. */
public record StepStates(List<StepStatus> steps) {
  public StepStates {
    steps = List.copyOf(steps);
  }

  /** Pending also for a step that the run didn't have when it was planned. */
  public StepState of(Step step) {
    return find(step.phase(), step.name()).map(StepStatus::state).orElse(StepState.PENDING);
  }

  /** The state of a step of the first phase that every run has. */
  StepState ofExpand(String name) {
    return find(Phase.EXPAND, name).map(StepStatus::state).orElseThrow();
  }

  /** Whether the run has still to do it. It never had the steps of partitions that came later. */
  boolean isOpen(Step step) {
    return find(step.phase(), step.name()).filter(it -> !it.state().isApplied()).isPresent();
  }

  /** Whether something of a phase may be in the source. */
  public boolean isBegun(Phase phase) {
    return steps.stream().anyMatch(step -> step.phase() == phase && step.state().isBegun());
  }

  /** Whether objects of a child may be in the source under a label. */
  boolean isBegun(String childLabel) {
    return steps.stream()
        .anyMatch(
            step ->
                step.name().equals(Step.CHILD_COLUMN + " " + childLabel) && step.state().isBegun());
  }

  public boolean isContracted() {
    return steps.stream()
        .anyMatch(step -> step.name().equals(Step.DROP_COLUMNS) && step.state().isApplied());
  }

  private Optional<StepStatus> find(Phase phase, String name) {
    return steps.stream()
        .filter(step -> step.phase() == phase && step.name().equals(name))
        .findFirst();
  }
}
