package dev.coatcheck.migrate.state;

import dev.coatcheck.migrate.source.CatalogTable;
import dev.coatcheck.migrate.source.Child;
import dev.coatcheck.migrate.source.ChildTable;
import dev.coatcheck.migrate.source.SourceSession;
import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.migrate.steps.Phase;
import dev.coatcheck.migrate.steps.Step;
import dev.coatcheck.migrate.steps.Steps;
import dev.coatcheck.postgres.sql.Database;
import dev.coatcheck.postgres.sql.DatabaseUnavailable;
import java.util.List;
import java.util.Optional;

/** A run with the names and children that its table has now, and the steps that follow from it. */
public final class CurrentRun {
  private TableMigration run;
  private List<Step> steps;

  public CurrentRun(TableMigration run) {
    this.run = run;
    this.steps = Steps.of(run.target());
  }

  public TableMigration run() {
    return run;
  }

  public List<Step> steps() {
    return steps;
  }

  /** Of the steps. */
  public List<String> names() {
    return steps.stream().map(Step::name).toList();
  }

  /** Whether a step is of a phase or of one that comes after it. */
  public boolean isFrom(Phase phase, int step) {
    return steps.get(step).phase().compareTo(phase) >= 0;
  }

  /**
   * Looks the names up: a table and its columns can be renamed at any time.
   *
   * @return false if the table, or its key column, is gone
   */
  public boolean lookUp(SourceSession session) {
    Target before = run.target();
    Optional<Target> now = CatalogTable.now(session.session(), before);
    // Children may outlive the table, and have to be freed of our triggers then.
    become(now.orElseGet(() -> before.with(ChildTable.now(session.session(), before.children()))));
    return now.isPresent();
  }

  /** Whether the table has other names by now; false also if nobody can tell. */
  public boolean isOvertaken(Database source) {
    try {
      return CatalogTable.now(source, run.target())
          .filter(now -> !now.equals(run.target()))
          .isPresent();
    } catch (DatabaseUnavailable gone) {
      return false;
    }
  }

  /** Goes on with other children. */
  public void with(List<Child> children) {
    become(run.target().with(children));
  }

  private void become(Target target) {
    if (!target.equals(run.target())) {
      run = run.at(target);
      steps = Steps.of(target);
    }
  }
}
