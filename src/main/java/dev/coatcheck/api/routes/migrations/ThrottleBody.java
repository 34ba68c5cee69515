package dev.coatcheck.api.routes.migrations;

import dev.coatcheck.api.exchange.Json;
import dev.coatcheck.api.exchange.ProblemCode;
import dev.coatcheck.api.exchange.Refusal;
import dev.coatcheck.core.json.JsonObject;
import dev.coatcheck.migrate.source.ThrottleSettings;
import dev.coatcheck.migrate.source.ThrottleSettings.Limit;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/** Parses a change of throttle settings. A request contains only the settings to change. */
public final class ThrottleBody {
  private ThrottleBody() {}

  /** The change of some settings by their names, each a number or a boolean. */
  public static UnaryOperator<ThrottleSettings> change(Map<String, ?> settings) {
    return change(JsonObject.of(Json.MAPPER.valueToTree(settings)));
  }

  /**
   * The settings after the change.
   *
   * @throws Refusal if a setting is not a number, or out of range
   */
  static UnaryOperator<ThrottleSettings> change(JsonObject body) {
    body.allow(
        Stream.concat(
                Arrays.stream(Limit.values()).map(Limit::wireName),
                Stream.of(ThrottleSettings.ARCHIVE_FAILURES))
            .toArray(String[]::new));
    // Parsed here, because the change is applied under a lock.
    Map<Limit, Integer> changed = new EnumMap<>(Limit.class);
    for (Limit limit : Limit.values()) {
      setting(body, limit).ifPresent(value -> changed.put(limit, (int) value));
    }
    Optional<Boolean> archives =
        Optional.of(body.bool(ThrottleSettings.ARCHIVE_FAILURES, false))
            .filter(_ -> body.has(ThrottleSettings.ARCHIVE_FAILURES));
    return now -> now.with(changed, archives);
  }

  private static OptionalLong setting(JsonObject body, Limit limit) {
    OptionalLong value = body.wholeNumber(limit.wireName());
    if (value.isPresent()
        && (value.getAsLong() < limit.least() || value.getAsLong() > limit.most())) {
      throw new Refusal(
          ProblemCode.THROTTLE_OUT_OF_RANGE,
          limit.wireName(),
          "This must be an integer from %d to %d%s."
              .formatted(
                  limit.least(),
                  limit.most(),
                  limit.least() == 0 ? ", where 0 means no limit" : ""));
    }
    return value;
  }
}
