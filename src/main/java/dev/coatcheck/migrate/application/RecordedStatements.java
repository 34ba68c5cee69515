package dev.coatcheck.migrate.application;

import java.util.List;
import java.util.Optional;

/**
 * Statements of applications that mention a table, or ask for a level of isolation, which names no
 * table.
 *
 * @param whyNot why statements may be missing; empty if all were read
 */
public record RecordedStatements(List<String> statements, Optional<String> whyNot) {
  /** A role that may not read the statements of others. */
  public static final String SEES_OWN =
      "the source's user sees only its own; grant it pg_read_all_stats";

  /** The same, with a reason if there was none before. */
  public RecordedStatements incomplete(String why) {
    return new RecordedStatements(statements, whyNot.or(() -> Optional.of(why)));
  }

  static RecordedStatements none(String why) {
    return new RecordedStatements(List.of(), Optional.of(why));
  }
}
