package dev.coatcheck.migrate.plan;

import dev.coatcheck.migrate.source.Diagnostic;
import java.util.List;
import java.util.Optional;

/**
 * A question to the catalog; each row of the answer is something that was found.
 *
 * @param query with {@code <oid>} of the table; one column of text
 * @param sentence with {@code %s} for what was found
 */
record Check(String code, String query, String sentence) {
  Optional<Diagnostic> diagnostic(List<String> found) {
    return found.isEmpty()
        ? Optional.empty()
        : Optional.of(new Diagnostic(code, sentence.formatted(Diagnostic.listed(found, ", "))));
  }
}
