package dev.coatcheck.migrate.inspect;

import java.util.List;
import java.util.Optional;

/**
 * A question to the catalog; each row of the answer is something that was found.
 *
 * @param query with {@code <oid>} of the table; one column of text
 * @param sentence with {@code %s} for what was found
 */
record Check(String code, String query, String sentence) {
  private static final int NAMED_MAX = 5;

  Optional<Diagnostic> finding(List<String> found) {
    return found.isEmpty()
        ? Optional.empty()
        : Optional.of(new Diagnostic(code, sentence.formatted(listed(found))));
  }

  /** The first few, and how many more there are. */
  static String listed(List<String> found) {
    return listed(found, ", ");
  }

  /** The same with another word between them. */
  static String listed(List<String> found, String between) {
    int more = found.size() - NAMED_MAX;
    return String.join(between, found.subList(0, Math.min(NAMED_MAX, found.size())))
        + (more > 0 ? " and " + more + " more" : "");
  }
}
