package dev.coatcheck.ids.registry;

import dev.coatcheck.core.json.JsonObject;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * A window before the sunset in which legacy IDs are refused for a trial, so that those who still
 * send them notice.
 *
 * @param from the first moment; whole seconds
 * @param to the first moment after it; whole seconds
 * @param status of the answers: 503, or 410, which makes search engines drop the link
 */
public record Brownout(Instant from, Instant to, int status) {
  static final int WINDOWS_MAX = 50;
  static final Duration LENGTH_MAX = Duration.ofDays(7);

  private static final int STATUS_DEFAULT = 503;
  private static final String FIELD = "brownouts";

  /** The windows of a type, in their order; past ones may stay. */
  static List<Brownout> read(JsonObject legacy, Optional<Instant> sunsetAt) {
    List<Brownout> windows = new ArrayList<>();
    for (JsonObject json : legacy.optionalObjects(FIELD, WINDOWS_MAX)) {
      Brownout window =
          new Brownout(
              time(json, "from"),
              time(json, "to"),
              json.oneOf("answer", Set.of(410, STATUS_DEFAULT), STATUS_DEFAULT));
      json.refuseOthers();
      if (!window.from.isBefore(window.to)
          || Duration.between(window.from, window.to).compareTo(LENGTH_MAX) > 0) {
        throw json.invalid("to", "A brownout ends after it begins, and within 7 days.");
      }
      if (sunsetAt.filter(window.to::isAfter).isPresent()) {
        throw json.invalid("to", "A brownout can't end after sunset_at.");
      }
      if (windows.stream().anyMatch(window::overlaps)) {
        throw json.invalid("from", "This brownout overlaps an earlier one of the list.");
      }
      windows.add(window);
    }
    return windows.stream().sorted(Comparator.comparing(Brownout::from)).toList();
  }

  private static Instant time(JsonObject json, String name) {
    return LegacyPolicy.time(json, name)
        .orElseThrow(
            () -> json.missing(name, "Send a time such as 2026-01-31T12:00:00Z for this."));
  }

  private boolean overlaps(Brownout other) {
    return from.isBefore(other.to) && other.from.isBefore(to);
  }

  public boolean isOn(Instant now) {
    return !now.isBefore(from) && now.isBefore(to);
  }

  /**
   * The fields of a brownout that is written as {@code FROM/TO}, or with {@code ,410} behind it for
   * another answer than 503. Of a text that is none they are refused when they are read.
   */
  public static Map<String, Object> fields(String text) {
    String[] window = text.split(",", 2);
    String[] times = window[0].split("/", 2);
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("from", times[0]);
    if (times.length == 2) {
      fields.put("to", times[1]);
    }
    if (window.length == 2) {
      fields.put("answer", window[1].matches("[0-9]{3}") ? Integer.valueOf(window[1]) : window[1]);
    }
    return fields;
  }

  /** As {@link #fields} reads it. */
  @Override
  public String toString() {
    return from + "/" + to + (status == STATUS_DEFAULT ? "" : "," + status);
  }

  /** How long it still lasts, in whole seconds, at least 1. */
  public int secondsLeft(Instant now) {
    return Math.max(
        1, Math.toIntExact(Duration.between(now, to).plusNanos(999_999_999).toSeconds()));
  }
}
