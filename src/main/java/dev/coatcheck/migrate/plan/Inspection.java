package dev.coatcheck.migrate.plan;

import dev.coatcheck.migrate.source.Diagnostic;
import java.util.List;

/** What an {@link Inventory} makes of a table. */
public sealed interface Inspection {
  record Sound(TableShape shape) implements Inspection {}

  /** All that stands in the way. */
  record Refused(List<Diagnostic> diagnostics) implements Inspection {}
}
