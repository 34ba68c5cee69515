package dev.coatcheck.migrate.run;

import dev.coatcheck.migrate.journal.Journal;
import dev.coatcheck.migrate.source.Child;
import dev.coatcheck.migrate.source.ChildTable;
import dev.coatcheck.migrate.source.SourceSession;
import dev.coatcheck.migrate.state.StepState;
import dev.coatcheck.migrate.state.StepStates;
import dev.coatcheck.migrate.state.TableMigration;
import dev.coatcheck.migrate.steps.Phase;
import dev.coatcheck.migrate.steps.Step;
import dev.coatcheck.migrate.steps.Steps;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** Compares the foreign keys to the table of a run with those that are known. */
final class ChildrenCheck {
  private static final String CHANGED = "the foreign keys to the table have changed";

  private ChildrenCheck() {}

  /**
   * The difference, and what to do about it; empty if there is none. A retry goes on with the
   * foreign keys as they are now. What stands already for a foreign key that is gone or changed has
   * to be undone first.
   */
  static Optional<String> of(Journal journal, SourceSession session, TableMigration run) {
    List<Child> known = run.target().children();
    List<Child> now = ChildTable.of(session.session(), run.target());
    return ChildTable.difference(known, now)
        .map(
            difference -> {
              boolean hasToUndo =
                  ChildTable.isAnyLost(known, now)
                      && journal.states(run.id()).isBegun(Phase.CHILDREN);
              if (!hasToUndo) {
                lookAgain(journal, run);
                journal.children(run, ChildTable.merged(known, now));
              }
              return "The foreign keys to the table are not those that were planned: "
                  + difference
                  + (hasToUndo
                      ? ". Undo from children on, then resume: a retry takes them as they are then."
                      : ". Retry takes them as they are now.");
            });
  }

  /**
   * Takes partitions that were detached as children of their own: their rows still refer to the
   * table.
   *
   * @return the children of the run from now on; empty if none was detached
   */
  static Optional<List<Child>> detached(
      Journal journal, SourceSession session, TableMigration run) {
    List<Child> detached = ChildTable.detached(session.session(), run.target());
    if (detached.isEmpty()) {
      return Optional.empty();
    }
    lookAgain(journal, run);
    List<Child> children =
        Stream.concat(run.target().children().stream(), detached.stream()).toList();
    journal.children(run, children);
    detached.forEach(
        child ->
            journal.event(
                run, "detached", child.label() + " has a foreign key of its own from now on."));
    return Optional.of(children);
  }

  /** What looked at all children has not looked at those that are there now. */
  private static void lookAgain(Journal journal, TableMigration run) {
    StepStates states = journal.states(run.id());
    Steps.of(run.target()).stream()
        .filter(ChildrenCheck::looksAtAll)
        .filter(step -> states.of(step).isApplied())
        .forEach(step -> journal.step(run, step, StepState.FAILED, Optional.of(CHANGED)));
  }

  private static boolean looksAtAll(Step step) {
    return step instanceof Step.Validate
        || step instanceof Step.Merge
        || step instanceof Step.Verify;
  }
}
