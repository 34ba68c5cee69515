package dev.coatcheck.migrate.run;

import dev.coatcheck.migrate.source.Diagnostic;
import java.util.List;

public sealed interface ActionOutcome {
  record Done(TableMigration.Whole whole) implements ActionOutcome {}

  record NotFound() implements ActionOutcome {}

  record NotNow(RunState state, String detail) implements ActionOutcome {}

  /** A part is done; the same request does the rest. */
  record Unfinished(String detail) implements ActionOutcome {}

  /** Preconditions that have to be accepted by their codes. */
  record NotAccepted(List<Diagnostic> missing) implements ActionOutcome {}

  /** The table can't be migrated, or no longer. */
  record Refused(List<Diagnostic> diagnostics) implements ActionOutcome {}
}
