package dev.coatcheck.migrate.run;

import dev.coatcheck.migrate.plan.OldColumnTable;
import dev.coatcheck.migrate.plan.Precondition;
import dev.coatcheck.migrate.source.CatalogTable;
import dev.coatcheck.migrate.source.Diagnostic;
import dev.coatcheck.migrate.source.Source;
import dev.coatcheck.migrate.source.Sources;
import dev.coatcheck.migrate.source.Target;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Checks whether the legacy IDs can leave the table, before the run is locked. */
final class ContractCheck {
  private final JournalTable journal;
  private final Sources sources;

  ContractCheck(JournalTable journal, Sources sources) {
    this.journal = journal;
    this.sources = sources;
  }

  /**
   * What uses the columns since the switch; empty if the primary key is not switched, or the
   * columns are gone.
   */
  Optional<OldColumns> look(TableMigration run) {
    Source source = sources.ofRun(run.source());
    Optional<Target> now =
        RunAction.isSwitched(journal.steps(run.id()))
            ? CatalogTable.now(source.database(), run.target())
            : Optional.empty();
    JournalTable.Switched since =
        journal
            .switched(run.id())
            .orElseGet(() -> new JournalTable.Switched(run.times().createdAt(), Map.of()));
    return now.map(target -> new OldColumnTable(source, target))
        .map(
            columns ->
                new OldColumns(since.at(), columns.use(since.calls()), columns.dependents()));
  }

  /** Empty also for a run that is not there, or in whose state nothing would be looked at. */
  Optional<ActionOutcome> refusal(long id, List<String> accepted) {
    return journal
        .find(id)
        .filter(run -> run.status().state() == RunState.DONE)
        .flatMap(run -> refusal(run, accepted));
  }

  private Optional<ActionOutcome> refusal(TableMigration run, List<String> accepted) {
    Optional<OldColumns> columns = look(run);
    if (columns.isEmpty()) {
      return Optional.of(
          new ActionOutcome.NotNow(
              RunState.DONE, "Its primary key is not switched. Switch it first."));
    }
    if (!columns.get().dependents().isEmpty()) {
      return Optional.of(
          new ActionOutcome.Refused(
              columns.get().dependents().stream().map(ContractCheck::refused).toList()));
    }
    List<Diagnostic> missing = Precondition.missing(columns.get().use().preconditions(), accepted);
    return missing.isEmpty()
        ? Optional.empty()
        : Optional.of(new ActionOutcome.NotAccepted(missing));
  }

  private static Diagnostic refused(String dependent) {
    return new Diagnostic(
        "old_column_needed",
        "An old column can't go, or would take this along: %s. Make the same on the new column, or drop it."
            .formatted(dependent));
  }
}
