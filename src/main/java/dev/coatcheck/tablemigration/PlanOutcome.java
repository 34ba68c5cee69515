package dev.coatcheck.tablemigration;

import dev.coatcheck.source.Finding;
import java.util.List;

/** What became of a plan. */
public sealed interface PlanOutcome {
  record Planned(TableMigration run) implements PlanOutcome {}

  /** No source has this name. */
  record SourceUnknown() implements PlanOutcome {}

  record Refused(List<Finding> findings) implements PlanOutcome {}
}
