package dev.coatcheck.cluster.audit;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;

/**
 * What an actor changed.
 *
 * @param action such as {@code type.put}
 * @param subjects what was changed, by name or ID: public IDs, a type, an API key …
 * @param detail a JSON object, without keys of rows, values of aliases and secrets
 */
public record AuditEntry(Actor actor, String action, List<String> subjects, String detail) {
  private static final JsonMapper JSON = new JsonMapper();

  public AuditEntry {
    subjects = List.copyOf(subjects);
    if (subjects.stream().anyMatch(subject -> subject.indexOf('\n') >= 0)) {
      throw new IllegalArgumentException("a subject of several lines: " + action);
    }
  }

  /** With the fields of its detail. */
  public static AuditEntry of(
      Actor actor,
      String action,
      List<String> subjects,
      Map<String, ? extends @Nullable Object> detail) {
    return new AuditEntry(actor, action, subjects, JSON.writeValueAsString(detail));
  }
}
