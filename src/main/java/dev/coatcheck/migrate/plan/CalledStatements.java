package dev.coatcheck.migrate.plan;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * Statements of applications that mention a table, with how often each was called.
 *
 * @param whyNot why statements may be missing; empty if all were read
 */
public record CalledStatements(List<Called> statements, Optional<String> whyNot) {
  public CalledStatements {
    statements = List.copyOf(statements);
  }

  /**
   * A statement.
   *
   * @param id by which {@code pg_stat_statements} knows it
   */
  public record Called(String id, String text, long calls) {}

  public Map<String, Long> calls() {
    return statements.stream().collect(Collectors.toMap(Called::id, Called::calls, Long::sum));
  }

  /**
   * Those that were called since a moment, with the calls since.
   *
   * @param before how often each was called by then. A number that was higher then was reset since
   */
  public CalledStatements since(Map<String, Long> before) {
    return new CalledStatements(
        statements.stream()
            .map(one -> new Called(one.id(), one.text(), since(one, before)))
            .filter(one -> one.calls() > 0)
            .toList(),
        whyNot);
  }

  private static long since(Called now, Map<String, Long> before) {
    long then = before.getOrDefault(now.id(), 0L);
    return now.calls() < then ? now.calls() : now.calls() - then;
  }
}
