package dev.coatcheck.migrate.run;

import dev.coatcheck.ids.registry.Type;
import dev.coatcheck.migrate.plan.Plan;
import dev.coatcheck.migrate.plan.Precondition;
import dev.coatcheck.migrate.plan.TableShape;
import dev.coatcheck.migrate.plan.TableSurvey;
import dev.coatcheck.migrate.source.CatalogTable;
import dev.coatcheck.migrate.source.Diagnostic;
import dev.coatcheck.migrate.source.Source;
import dev.coatcheck.migrate.source.Sources;
import dev.coatcheck.migrate.source.TableSpec;
import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.migrate.table.TrialTable;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Checks whether a run can start, and whether the table is still as it was planned, before the run
 * is locked.
 */
final class StartCheck {
  private static final Diagnostic CHANGED =
      new Diagnostic(
          "table_changed", "The table differs from the planned table. Plan the migration again.");

  private static final Diagnostic KEYS_FORGOTTEN =
      new Diagnostic(
          "keys_forgotten",
          "The keys of an earlier run were forgotten, but the public IDs of this type have them. A"
              + " new run would give the rows different keys. Create another type for this table.");

  /** Two tables of a type would take the same numbers. */
  private static final Diagnostic KEYS_CONTRACTED =
      new Diagnostic(
          "migration_active",
          "A contracted run gave keys of this type, for good. Create another type for this table.");

  private static final Diagnostic TYPE_RETIRED =
      new Diagnostic(
          "type_retired",
          "The type is retired, so it gets no new public IDs. Put the type with retired: false, or"
              + " create another type for this table.");

  /** The precondition that the shape of a row may change. */
  private static final String ROW_SHAPE = "row_shape";

  private final JournalTable journal;
  private final Sources sources;
  private final TableSurvey survey;

  StartCheck(JournalTable journal, Sources sources, TableSurvey survey) {
    this.journal = journal;
    this.sources = sources;
    this.survey = survey;
  }

  /** Why another run of a type is refused, if it is. */
  Optional<Diagnostic> refusal(Type type) {
    return ofType(type.number())
        .or(
            () ->
                journal.occupies(type.number()) ? Optional.of(ActionTable.BUSY) : Optional.empty());
  }

  /** Why a type gets no further keys from a table, if it gets none. */
  private Optional<Diagnostic> ofType(int typeNumber) {
    if (journal.isRetired(typeNumber)) {
      return Optional.of(TYPE_RETIRED);
    }
    if (journal.hasContracted(typeNumber)) {
      return Optional.of(KEYS_CONTRACTED);
    }
    return journal.hasForgotten(typeNumber) ? Optional.of(KEYS_FORGOTTEN) : Optional.empty();
  }

  /**
   * Empty also for a run that is not there, or is not planned any more.
   *
   * @param accepted codes of preconditions
   */
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
    Optional<Diagnostic> ofType = ofType(run.typeNumber());
    if (ofType.isPresent()) {
      return Optional.of(new ActionOutcome.Refused(List.of(ofType.get())));
    }
    Source source = sources.ofRun(run.source());
    List<Diagnostic> changes =
        CatalogTable.now(source.database(), run.target())
            .map(now -> changes(source, run, now))
            .orElseGet(() -> List.of(CHANGED));
    if (!changes.isEmpty()) {
      return Optional.of(new ActionOutcome.Refused(changes));
    }
    List<Diagnostic> missing = Precondition.missing(run.plan().preconditions(), accepted);
    return missing.isEmpty()
        ? trial(source, run, accepted).map(failed -> new ActionOutcome.Refused(List.of(failed)))
        : Optional.of(new ActionOutcome.NotAccepted(missing));
  }

  /** What stands in the way of the start and did not when the table was planned. */
  private List<Diagnostic> changes(Source source, TableMigration run, Target now) {
    TableSpec spec =
        new TableSpec(
            now.table().schema(),
            now.table().table(),
            now.createdAt().map(Target.TimeColumn::name),
            run.keepPrimaryKey());
    return switch (survey.inspect(source, spec)) {
      case TableSurvey.Outcome.Refused(List<Diagnostic> diagnostics) -> diagnostics;
      case TableSurvey.Outcome.Sound(TableShape shape) ->
          shape.keyColumn().equals(now.keyColumn())
              ? unplanned(run.plan(), shape)
              : List.of(CHANGED);
    };
  }

  /** Preconditions that apply now and were not part of the plan. */
  private static List<Diagnostic> unplanned(Plan plan, TableShape shape) {
    Set<String> planned =
        plan.preconditions().stream().map(Precondition::code).collect(Collectors.toSet());
    return shape.preconditions().stream()
        .filter(condition -> !condition.found().isEmpty())
        .filter(condition -> !planned.contains(condition.code()))
        .map(
            condition ->
                new Diagnostic(
                    condition.code(),
                    "This appeared after the plan. Plan the migration again. "
                        + condition.diagnostic().detail()))
        .toList();
  }

  /**
   * Migrates one row and rolls back; returns why that failed. A table whose own triggers are known
   * to fail on the new column is not tried.
   */
  private static Optional<Diagnostic> trial(
      Source source, TableMigration run, List<String> accepted) {
    return isKnownToFail(run.plan(), accepted)
        ? Optional.empty()
        : CatalogTable.now(source.database(), run.target())
            .flatMap(now -> TrialTable.of(source.settings(), now))
            .map(StartCheck::failed);
  }

  private static boolean isKnownToFail(Plan plan, List<String> accepted) {
    return accepted.contains(ROW_SHAPE)
        && plan.preconditions().stream()
            .anyMatch(
                condition -> condition.code().equals(ROW_SHAPE) && !condition.found().isEmpty());
  }

  private static Diagnostic failed(String why) {
    return new Diagnostic(
        "trial_failed",
        "The run was tried with one row and rolled back. The trial failed: "
            + why
            + " Correct the cause, or plan again with the application's search path if names were"
            + " not found.");
  }
}
