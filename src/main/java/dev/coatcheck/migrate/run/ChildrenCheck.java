package dev.coatcheck.migrate.run;

import dev.coatcheck.migrate.source.Child;
import dev.coatcheck.migrate.source.ChildTable;
import dev.coatcheck.migrate.source.SourceSession;
import dev.coatcheck.migrate.table.Phase;
import dev.coatcheck.migrate.table.Step;
import dev.coatcheck.migrate.table.Steps;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** Compares the present foreign keys to the table of a run with the known ones. */
final class ChildrenCheck {
  private static final String CHANGED = "the foreign keys to the table have changed";

  private final JournalTable journal;
  private final SourceSession session;
  private final CurrentRun current;
  private final List<Child> known;
  private final List<Child> now;

  ChildrenCheck(JournalTable journal, SourceSession session, CurrentRun current) {
    this.journal = journal;
    this.session = session;
    this.current = current;
    this.known = current.run().target().children();
    StepStates states = journal.states(current.run().id());
    this.now =
        ChildTable.of(session.session(), current.run().target()).stream()
            .map(
                child ->
                    known.stream().anyMatch(child::isSameColumn)
                        ? child
                        : child.beside(known, states::isBegun))
            .toList();
  }

  /**
   * The difference, and what to do about it; empty if there is none. A retry takes the present
   * foreign keys. The objects for a foreign key that is gone or changed have to be undone first.
   */
  Optional<String> difference() {
    return ChildTable.difference(known, now)
        .map(
            difference -> {
              boolean hasToUndo =
                  ChildTable.isAnyLost(known, now)
                      && journal.states(current.run().id()).isBegun(Phase.CHILDREN);
              if (!hasToUndo) {
                lookAgain();
                journal.children(current.run(), ChildTable.merged(known, now));
              }
              return "The foreign keys to the table are not those that were planned: "
                  + difference
                  + (hasToUndo
                      ? ". Undo from children on, then resume: a retry takes them as they are then."
                      : ". Retry takes them as they are now.");
            });
  }

  /**
   * Takes partitions that were detached as children of their own, because their rows still refer to
   * the table; false if none was.
   */
  boolean takesDetached() {
    List<Child> detached = ChildTable.detached(session.session(), known, now);
    if (detached.isEmpty()) {
      return false;
    }
    lookAgain();
    detached.forEach(
        child ->
            journal.event(
                current.run(),
                "detached",
                child.label() + " has a foreign key of its own from now on."));
    current.with(Stream.concat(known.stream(), detached.stream()).toList());
    journal.children(current.run(), current.run().target().children());
    return true;
  }

  /** Repeats the steps that look at all children, because there are others now. */
  private void lookAgain() {
    StepStates states = journal.states(current.run().id());
    Steps.of(current.run().target().with(now)).stream()
        .filter(ChildrenCheck::looksAtAll)
        .filter(step -> states.of(step).isApplied())
        .forEach(step -> journal.step(current.run(), step, StepState.FAILED, Optional.of(CHANGED)));
  }

  private static boolean looksAtAll(Step step) {
    return step instanceof Step.Validate
        || step instanceof Step.Merge
        || step instanceof Step.Verify;
  }
}
