package dev.coatcheck.migrate.plan;

import dev.coatcheck.migrate.source.Diagnostic;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * What the applications of a table have to be ready for. Each is accepted by its code.
 *
 * @param code stable, in snake_case
 * @param detail what happens and what to do about it, in whole sentences
 * @param found what it applies to, each with its remedy where that differs; at most {@value
 *     #FOUND_MAX}, and none if it applies to every table
 * @param notSearched why there may be more
 */
public record Precondition(
    String code, String detail, List<String> found, Optional<String> notSearched) {
  static final int FOUND_MAX = 100;

  public Precondition {
    found = List.copyOf(found.subList(0, Math.min(FOUND_MAX, found.size())));
  }

  Precondition(String code, String detail, List<String> found) {
    this(code, detail, found, Optional.empty());
  }

  /** Those that are not accepted by their codes. */
  public static List<Diagnostic> missing(List<Precondition> all, List<String> accepted) {
    return all.stream()
        .filter(condition -> !accepted.contains(condition.code))
        .map(Precondition::diagnostic)
        .toList();
  }

  /** The same, with what else was found. */
  Precondition and(Precondition other) {
    List<String> all = Stream.concat(found.stream(), other.found.stream()).distinct().toList();
    return new Precondition(code, detail, all, notSearched.or(other::notSearched));
  }

  /** All of it in sentences. */
  public Diagnostic diagnostic() {
    return new Diagnostic(
        code,
        detail
            + (found.isEmpty() ? "" : " Found: " + Diagnostic.listed(found, "; ") + ".")
            + notSearched.map(why -> " Not all statements were searched: " + why + ".").orElse(""));
  }
}
