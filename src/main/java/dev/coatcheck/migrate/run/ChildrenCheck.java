package dev.coatcheck.migrate.run;

import dev.coatcheck.migrate.journal.Journal;
import dev.coatcheck.migrate.source.Child;
import dev.coatcheck.migrate.source.ChildTable;
import dev.coatcheck.migrate.source.SourceSession;
import dev.coatcheck.migrate.state.TableMigration;
import dev.coatcheck.migrate.steps.Phase;
import java.util.List;
import java.util.Optional;

/** Compares the foreign keys to the table of a run with those that are known. */
final class ChildrenCheck {
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
                journal.children(run, ChildTable.merged(known, now));
              }
              return "The foreign keys to the table are not those that were planned: "
                  + difference
                  + (hasToUndo
                      ? ". Undo from children on, then resume: a retry takes them as they are then."
                      : ". Retry takes them as they are now.");
            });
  }
}
