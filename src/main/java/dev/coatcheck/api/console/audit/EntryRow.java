package dev.coatcheck.api.console.audit;

import dev.coatcheck.api.console.page.Paths;
import dev.coatcheck.cluster.audit.Actor;
import dev.coatcheck.cluster.audit.Audit;
import dev.coatcheck.cluster.audit.RecordedEntry;
import dev.coatcheck.ids.access.ApiKey;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * An entry of the audit as a page shows it. What a command in the database doesn't have is an empty
 * text.
 *
 * @param keyId of the API key, {@code key_…}
 * @param subjects the first {@value #SUBJECTS_MAX} of them
 * @param moreSubjects how many are left out
 */
public record EntryRow(
    long number,
    Instant at,
    String actor,
    String keyId,
    String address,
    String requestId,
    String action,
    List<String> subjects,
    int moreSubjects,
    List<Detail> details) {
  /** A batch has up to a thousand. */
  private static final int SUBJECTS_MAX = 10;

  private static final JsonMapper JSON = new JsonMapper();

  public EntryRow {
    subjects = List.copyOf(subjects);
    details = List.copyOf(details);
  }

  /** A field of the detail, and its value as JSON unless it is a text. */
  public record Detail(String name, String value) {}

  public static List<EntryRow> of(Audit.Page page) {
    return page.entries().stream().map(EntryRow::of).toList();
  }

  private static EntryRow of(RecordedEntry recorded) {
    Actor actor = recorded.entry().actor();
    List<String> subjects = recorded.entry().subjects();
    return new EntryRow(
        recorded.number(),
        recorded.at(),
        actor.name(),
        actor.keyId().map(ApiKey::shown).orElse(""),
        actor.address().orElse(""),
        actor.requestId().orElse(""),
        recorded.entry().action(),
        subjects.stream().limit(SUBJECTS_MAX).toList(),
        Math.max(0, subjects.size() - SUBJECTS_MAX),
        details(recorded.entry().detail()));
  }

  private static List<Detail> details(String json) {
    List<Detail> details = new ArrayList<>();
    JSON.readTree(json)
        .properties()
        .forEach(field -> details.add(new Detail(field.getKey(), text(field.getValue()))));
    return details;
  }

  private static String text(JsonNode value) {
    if (value.isNull()) {
      return "none";
    }
    return value.isString() ? value.stringValue() : value.toString();
  }

  /** The page of all entries about a subject. */
  public static String about(String subject) {
    return AuditFields.PATH + "?subject=" + Paths.encoded(subject);
  }

  /** The page of all that a principal did. */
  public static String by(String actor) {
    return AuditFields.PATH + "?actor=" + Paths.encoded(actor);
  }
}
