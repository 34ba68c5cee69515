package dev.coatcheck.migrate.plan;

import dev.coatcheck.migrate.source.Diagnostic;
import dev.coatcheck.migrate.table.Step;
import java.util.List;

/**
 * What a run would do, as it was shown.
 *
 * @param rows that would get a key
 * @param bytes of the table with its indexes
 * @param highestId the highest legacy ID
 * @param olderThanEpoch rows that are older than the epoch of the keys
 * @param estimate of its time, disk and WAL
 * @param preconditions of the application, each to be accepted before the start
 * @param notes facts that need no action
 */
public record Plan(
    long rows,
    long bytes,
    long highestId,
    long olderThanEpoch,
    Estimate estimate,
    List<Precondition> preconditions,
    List<Diagnostic> notes,
    List<PlannedStep> steps) {
  public Plan {
    preconditions = List.copyOf(preconditions);
    notes = List.copyOf(notes);
    steps = List.copyOf(steps);
  }

  /** A step with every statement that it sends. */
  public record PlannedStep(
      String phase, String name, List<String> statements, List<String> undoStatements) {
    static PlannedStep of(Step step) {
      return new PlannedStep(
          step.phase().wireName(), step.name(), step.statements(), step.undoStatements());
    }
  }
}
