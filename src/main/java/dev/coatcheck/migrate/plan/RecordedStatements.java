package dev.coatcheck.migrate.plan;

import dev.coatcheck.migrate.source.SearchPath;
import java.util.List;
import java.util.Optional;

/**
 * Statements of applications that mention a table, or ask for a level of isolation, which names no
 * table.
 *
 * @param whyNot why statements may be missing; empty if all were read
 * @param notAsked those that could depend on the primary key, and about which the server couldn't
 *     be asked, each with the reason
 */
record RecordedStatements(
    List<Recorded> statements, Optional<String> whyNot, List<String> notAsked) {
  /** A role that may not read the statements of others. */
  static final String SEES_OWN = "the source's user sees only its own; grant it pg_read_all_stats";

  RecordedStatements {
    statements = List.copyOf(statements);
    notAsked = List.copyOf(notAsked);
  }

  RecordedStatements(List<Recorded> statements, Optional<String> whyNot) {
    this(statements, whyNot, List.of());
  }

  /**
   * @param path of the role that sent it
   * @param needsKey whether it depends on the primary key, by the server's own words; empty if the
   *     server wasn't asked
   */
  record Recorded(String text, SearchPath path, Optional<Boolean> needsKey) {
    Recorded(String text, SearchPath path) {
      this(text, path, Optional.empty());
    }
  }

  /** The same, with a reason if there was none before. */
  RecordedStatements incomplete(String why) {
    return new RecordedStatements(statements, whyNot.or(() -> Optional.of(why)), notAsked);
  }

  static RecordedStatements none(String why) {
    return new RecordedStatements(List.of(), Optional.of(why));
  }
}
