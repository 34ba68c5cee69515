package dev.coatcheck.migrate.run;

import dev.coatcheck.migrate.source.Diagnostic;
import java.util.List;

public sealed interface PlanOutcome {
  record Planned(TableMigration.Whole whole) implements PlanOutcome {}

  /** No source has this name. */
  record SourceUnknown() implements PlanOutcome {}

  record Refused(List<Diagnostic> diagnostics) implements PlanOutcome {}
}
