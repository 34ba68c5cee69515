package dev.coatcheck.ids.registry;

import dev.coatcheck.core.json.JsonObject;
import java.net.URI;
import java.net.URISyntaxException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * How {@code /legacy/{type}/{n}} answers for a type.
 *
 * @param isPublic whether anyone may ask; otherwise every number looks unknown
 * @param maxId numbers above it were never assigned and are refused without a query; empty: no
 *     limit
 * @param deprecatedAt since when legacy IDs are deprecated; whole seconds
 * @param sunsetAt from when on they answer 410, not before {@code deprecatedAt}; whole seconds
 * @param maxAgeSeconds how long a cache may keep the redirect
 * @param sunsetLink a page about the end of the legacy IDs
 * @param brownouts in their order
 * @param exemptKeys names of the API keys, {@code key_…}, that notice no brownout
 */
public record LegacyPolicy(
    int status,
    boolean isPublic,
    OptionalLong maxId,
    Optional<Instant> deprecatedAt,
    Optional<Instant> sunsetAt,
    int maxAgeSeconds,
    Optional<String> sunsetLink,
    List<Brownout> brownouts,
    Set<String> exemptKeys) {
  private static final String SUNSET_LINK = "sunset_link";
  private static final int LINK_LENGTH_MAX = 500;
  private static final String EXEMPT = "brownouts_exempt";
  private static final int EXEMPT_MAX = 100;

  /** Nothing in it ends the brackets that it is put into. */
  private static final Pattern LINK = Pattern.compile("https?://[!-~&&[^\"<>\\\\^`{|}]]+");

  private static final Pattern KEY_NAME = Pattern.compile("key_[0-9A-Za-z]{12}");

  public LegacyPolicy {
    brownouts = List.copyOf(brownouts);
    exemptKeys = Set.copyOf(exemptKeys);
  }

  static LegacyPolicy read(JsonObject json) {
    LegacyPolicy policy =
        new LegacyPolicy(
            json.oneOf("status", Set.of(301, 308), 308),
            json.bool("public", true),
            maxId(json),
            time(json, "deprecated_at"),
            time(json, "sunset_at"),
            json.integer("max_age_seconds", 0, Redirect.MAX_AGE_SECONDS_MAX, 0),
            sunsetLink(json),
            Brownout.read(json, time(json, "sunset_at")),
            exemptKeys(json));
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

  private static Optional<String> sunsetLink(JsonObject json) {
    Optional<String> link = json.nullableString(SUNSET_LINK);
    if (link.isPresent() && !isLink(link.get())) {
      throw json.invalid(
          SUNSET_LINK,
          "Send the URL of a page, http or https, in up to %s ASCII characters, or null."
              .formatted(LINK_LENGTH_MAX));
    }
    return link;
  }

  private static boolean isLink(String text) {
    try {
      return text.length() <= LINK_LENGTH_MAX
          && LINK.matcher(text).matches()
          && new URI(text).getHost() != null;
    } catch (URISyntaxException malformed) {
      return false;
    }
  }

  private static Set<String> exemptKeys(JsonObject json) {
    List<String> names = json.optionalStrings(EXEMPT, Integer.MAX_VALUE);
    if (names.size() > EXEMPT_MAX || !names.stream().allMatch(KEY_NAME.asMatchPredicate())) {
      throw json.invalid(
          EXEMPT, "Send the IDs of up to " + EXEMPT_MAX + " API keys, each like key_2bN8Qx0LmT4a.");
    }
    return Set.copyOf(names);
  }

  /** To the second, because the headers Deprecation and Sunset are no more precise. */
  static Optional<Instant> time(JsonObject json, String name) {
    Optional<Instant> time =
        json.nullableTime(name).map(exact -> exact.truncatedTo(ChronoUnit.SECONDS));
    json.record(name, time.map(Instant::toString).orElse(null));
    return time;
  }

  /** Whether legacy IDs answer 410. */
  public boolean isOver(Instant now) {
    return sunsetAt.filter(sunset -> !now.isBefore(sunset)).isPresent();
  }

  /**
   * The brownout that a caller notices; none once legacy IDs are over.
   *
   * @param keyName of its API key, {@code key_…}; empty for a visitor
   */
  public Optional<Brownout> brownout(Optional<String> keyName, Instant now) {
    return isOver(now) || keyName.filter(exemptKeys::contains).isPresent()
        ? Optional.empty()
        : brownouts.stream().filter(window -> window.isOn(now)).findFirst();
  }

  /**
   * How long a cache may keep a redirect of now: never beyond the sunset, never into a brownout,
   * and not at all in one.
   */
  public int maxAgeSeconds(Instant now) {
    if (isOver(now) || brownouts.stream().anyMatch(window -> window.isOn(now))) {
      return 0;
    }
    return Stream.concat(sunsetAt.stream(), brownouts.stream().map(Brownout::from))
        .filter(now::isBefore)
        .map(end -> Duration.between(now, end).toSeconds())
        .reduce((long) maxAgeSeconds, Math::min)
        .intValue();
  }
}
