package dev.coatcheck.migrate.run;

import dev.coatcheck.migrate.inspect.Diagnostic;
import java.util.List;

/** What became of a plan. */
public sealed interface PlanOutcome {
  record Planned(TableMigration.Whole whole) implements PlanOutcome {}

  /** No source has this name. */
  record SourceUnknown() implements PlanOutcome {}

  record Refused(List<Diagnostic> findings) implements PlanOutcome {}
}
