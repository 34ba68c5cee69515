package dev.coatcheck.api.console.find;

import dev.coatcheck.cluster.audit.Audit;
import dev.coatcheck.ids.alias.Alias;
import dev.coatcheck.ids.alias.Aliases;
import dev.coatcheck.ids.mapping.Mapping;
import dev.coatcheck.ids.mapping.ResolveOutcome;
import java.util.List;
import java.util.Optional;
import org.eclipse.jetty.http.HttpField;

/**
 * One public ID that a text stands for.
 *
 * @param as what the text is of it: its public ID, its key, its legacy ID
 * @param audited the latest entries of the audit about it; empty if the caller may not read them
 * @param linkStatus what a stranger's request for its link is answered
 * @param linkHeaders of the same answer
 */
record Finding(
    List<String> as,
    Mapping mapping,
    Optional<ResolveOutcome.Ended> ended,
    Aliases.Listed aliases,
    Optional<MergeGraph> graph,
    Optional<Audit.Page> audited,
    int linkStatus,
    List<HttpField> linkHeaders) {
  String id() {
    return mapping.publicId().toString();
  }

  boolean isActive() {
    return ended.isEmpty();
  }

  /** Where its link leads, or an empty text. */
  String location() {
    return linkHeaders.stream()
        .filter(header -> header.is("Location"))
        .map(HttpField::getValue)
        .findFirst()
        .orElse("");
  }

  /** What an alias is unique in, or an empty text. */
  static String namespace(Alias alias) {
    return alias
        .namespace()
        .name()
        .or(() -> alias.namespace().principal().map(principal -> "principal " + principal))
        .orElse("");
  }
}
