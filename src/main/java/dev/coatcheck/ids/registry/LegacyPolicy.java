package dev.coatcheck.ids.registry;

import dev.coatcheck.core.json.JsonObject;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;

/**
 * How {@code /legacy/{type}/{n}} answers for a type.
 *
 * @param isPublic whether anyone may ask; otherwise every number looks unknown
 * @param maxId numbers above it were never assigned and are refused without a query; empty: no
 *     limit
 * @param deprecatedAt since when legacy IDs are deprecated; whole seconds
 * @param sunsetAt from when on they answer 410, not before {@code deprecatedAt}; whole seconds
 * @param maxAgeSeconds how long a cache may keep the redirect
 */
public record LegacyPolicy(
    int status,
    boolean isPublic,
    OptionalLong maxId,
    Optional<Instant> deprecatedAt,
    Optional<Instant> sunsetAt,
    int maxAgeSeconds) {

  static LegacyPolicy read(JsonObject json) {
    LegacyPolicy policy =
        new LegacyPolicy(
            json.oneOf("status", Set.of(301, 308), 308),
            json.bool("public", true),
            maxId(json),
            time(json, "deprecated_at"),
            time(json, "sunset_at"),
            json.integer("max_age_seconds", 0, Redirect.MAX_AGE_SECONDS_MAX, 0));
    json.refuseOthers();
    if (policy
        .deprecatedAt
        .filter(from -> policy.sunsetAt.filter(from::isAfter).isPresent())
        .isPresent()) {
      throw json.invalid("sunset_at", "sunset_at can't be before deprecated_at.");
    }
    return policy;
  }

  private static OptionalLong maxId(JsonObject json) {
    Optional<String> text = json.nullableString("max_id");
    OptionalLong number = text.map(LegacyNumber::parse).orElseGet(OptionalLong::empty);
    if (text.isPresent() && number.isEmpty()) {
      throw json.invalid("max_id", "Send a decimal from 1 to 2^63 - 1 as a string, or null.");
    }
    return number;
  }

  /** To the second, because the headers Deprecation and Sunset are no more precise. */
  private static Optional<Instant> time(JsonObject json, String name) {
    Optional<Instant> time =
        json.nullableTime(name).map(exact -> exact.truncatedTo(ChronoUnit.SECONDS));
    json.record(name, time.map(Instant::toString).orElse(null));
    return time;
  }

  /** Whether legacy IDs answer 410. */
  public boolean isOver(Instant now) {
    return sunsetAt.filter(sunset -> !now.isBefore(sunset)).isPresent();
  }
}
