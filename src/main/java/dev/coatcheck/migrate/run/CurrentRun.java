package dev.coatcheck.migrate.run;

import dev.coatcheck.migrate.source.CatalogTable;
import dev.coatcheck.migrate.source.Child;
import dev.coatcheck.migrate.source.ChildTable;
import dev.coatcheck.migrate.source.SourceSession;
import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.migrate.table.Phase;
import dev.coatcheck.migrate.table.Step;
import dev.coatcheck.migrate.table.Steps;
import dev.coatcheck.postgres.sql.Database;
import dev.coatcheck.postgres.sql.DatabaseUnavailable;
import java.util.List;
import java.util.Optional;

/** A run with the names and children that its table has now, and the steps that follow from it. */
final class CurrentRun {
  private TableMigration run;
  private List<Step> steps;

  CurrentRun(TableMigration run) {
    this.run = run;
    this.steps = Steps.of(run.target());
  }

  TableMigration run() {
    return run;
  }

  List<Step> steps() {
    return steps;
  }

  List<String> names() {
    return steps.stream().map(Step::name).toList();
  }

  /** Whether a step is of a phase or of one that comes after it. */
  boolean isFrom(Phase phase, int step) {
    return steps.get(step).phase().compareTo(phase) >= 0;
  }

  /**
   * Looks the names up: a table and its columns can be renamed at any time.
   *
   * @return false if the table, or its key column, is gone
   */
  boolean lookUp(SourceSession session) {
    Target before = run.target();
    Optional<Target> now = CatalogTable.now(session.session(), before);
    // Children may outlive the table, and have to be freed of our triggers then.
    become(now.orElseGet(() -> before.with(ChildTable.now(session.session(), before))));
    return now.isPresent();
  }

  /** Whether the table has other names by now; false also if nobody can tell. */
  boolean isOvertaken(Database source) {
    try {
      return CatalogTable.now(source, run.target())
          .filter(now -> !now.equals(run.target()))
          .isPresent();
    } catch (DatabaseUnavailable gone) {
      return false;
    }
  }

  void with(List<Child> children) {
    become(run.target().with(children));
  }

  private void become(Target target) {
    if (!target.equals(run.target())) {
      run = run.at(target);
      steps = Steps.of(target);
    }
  }
}
