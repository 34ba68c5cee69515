package dev.coatcheck.migrate.plan;

import dev.coatcheck.migrate.source.Diagnostic;
import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.migrate.table.Step;
import java.util.List;

/** The answer of a {@link Planner}. */
public sealed interface Proposal {
  /** The table can be migrated so. */
  record Ready(Target target, Plan plan, List<Step> steps) implements Proposal {
    public Ready {
      steps = List.copyOf(steps);
    }
  }

  /** All that stands in the way. */
  record Refused(List<Diagnostic> diagnostics) implements Proposal {
    public Refused {
      diagnostics = List.copyOf(diagnostics);
    }
  }
}
