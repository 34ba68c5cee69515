package dev.coatcheck.migrate.run;

import dev.coatcheck.migrate.steps.Phase;
import dev.coatcheck.migrate.steps.Step;
import dev.coatcheck.postgres.sql.DatabaseUnavailable;
import java.util.List;
import java.util.Optional;

/** The runs that have something on their table, as of half a second ago. */
final class Occupied {
  private final RunStore store;
  private volatile List<Run> runs = List.of();

  Occupied(RunStore store) {
    this.store = store;
  }

  /**
   * A run on its table.
   *
   * @param hasTriggers new rows get keys
   * @param hasOutbox entries may wait
   */
  record Run(TableMigration run, boolean hasTriggers, boolean hasOutbox) {}

  List<Run> all() {
    return runs;
  }

  Optional<Run> ofType(int typeNumber) {
    return runs.stream().filter(run -> run.run().typeNumber() == typeNumber).findFirst();
  }

  /** Reads them anew; keeps what it knows while the database can't be asked. */
  void refresh() {
    try {
      runs = store.occupying().stream().map(this::withSteps).toList();
    } catch (DatabaseUnavailable reportedAlready) {
      // The next time will do.
    }
  }

  private Run withSteps(TableMigration run) {
    List<TableMigration.StepStatus> steps = store.steps(run.id());
    return new Run(run, isApplied(steps, Step.DUAL_WRITE), isApplied(steps, Step.PREPARE));
  }

  private static boolean isApplied(List<TableMigration.StepStatus> steps, String name) {
    return steps.stream()
        .anyMatch(
            step ->
                step.phase() == Phase.EXPAND
                    && step.name().equals(name)
                    && step.state() != StepState.PENDING
                    && step.state() != StepState.UNDONE);
  }
}
