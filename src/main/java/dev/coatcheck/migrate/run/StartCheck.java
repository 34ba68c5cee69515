package dev.coatcheck.migrate.run;

import dev.coatcheck.migrate.application.Precondition;
import dev.coatcheck.migrate.inspect.Inventory;
import dev.coatcheck.migrate.journal.ActionOutcome;
import dev.coatcheck.migrate.journal.Journal;
import dev.coatcheck.migrate.journal.RunState;
import dev.coatcheck.migrate.journal.TableMigration;
import dev.coatcheck.migrate.plan.PlanCheck;
import dev.coatcheck.migrate.source.Diagnostic;
import dev.coatcheck.migrate.source.Sources;
import java.util.List;
import java.util.Optional;

/** What speaks against the start of a run; looked at before the run is locked. */
final class StartCheck {
  private final Journal journal;
  private final Sources sources;
  private final Inventory inventory;

  StartCheck(Journal journal, Sources sources, Inventory inventory) {
    this.journal = journal;
    this.sources = sources;
    this.inventory = inventory;
  }

  /** Empty also for a run that is not there, or is not planned any more. */
  Optional<ActionOutcome> refusal(long id, List<String> accepted) {
    if (journal.hasImported(id)) {
      return Optional.of(
          new ActionOutcome.NotNow(
              RunState.PLANNED,
              "The keys of this run came from a file. Plan another run to install triggers."));
    }
    return journal
        .find(id)
        .filter(run -> run.status().state() == RunState.PLANNED)
        .flatMap(run -> refusal(run, accepted));
  }

  private Optional<ActionOutcome> refusal(TableMigration run, List<String> accepted) {
    PlanCheck check =
        new PlanCheck(
            inventory, sources.named(run.source()).orElseThrow(), run.target(), run.plan());
    List<Diagnostic> changes = check.changes(run.keepPrimaryKey());
    if (!changes.isEmpty()) {
      return Optional.of(new ActionOutcome.Refused(changes));
    }
    List<Diagnostic> missing =
        run.plan().preconditions().stream()
            .filter(condition -> !accepted.contains(condition.code()))
            .map(Precondition::finding)
            .toList();
    return missing.isEmpty()
        ? check.trial(accepted).map(failed -> new ActionOutcome.Refused(List.of(failed)))
        : Optional.of(new ActionOutcome.NotAccepted(missing));
  }
}
