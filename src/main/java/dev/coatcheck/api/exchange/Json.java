package dev.coatcheck.api.exchange;

import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.PropertyNamingStrategies;
import tools.jackson.databind.cfg.DateTimeFeature;
import tools.jackson.databind.cfg.EnumFeature;
import tools.jackson.databind.json.JsonMapper;

/** Reads and writes JSON, strictly. */
public final class Json {
  private static final int DEPTH_MAX = 20;
  private static final int NUMBER_DIGITS_MAX = 20;
  private static final int NAME_CHARACTERS_MAX = 255;

  /**
   * A batch of 1,000 items with all fields has 22,000 tokens. A token takes up to a hundred times
   * as much memory as its bytes in the body.
   */
  private static final int TOKENS_MAX = 50_000;

  public static final JsonMapper MAPPER =
      JsonMapper.builder(
              JsonFactory.builder()
                  .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
                  .streamReadConstraints(
                      StreamReadConstraints.builder()
                          .maxNestingDepth(DEPTH_MAX)
                          .maxNumberLength(NUMBER_DIGITS_MAX)
                          .maxNameLength(NAME_CHARACTERS_MAX)
                          .maxTokenCount(TOKENS_MAX)
                          .build())
                  .build())
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .enable(EnumFeature.WRITE_ENUMS_TO_LOWERCASE)
          .disable(DateTimeFeature.WRITE_DATES_AS_TIMESTAMPS)
          .propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE)
          .build();

  private Json() {}

  public static byte[] write(Object body) {
    return MAPPER.writeValueAsBytes(body);
  }

  public static String text(Object body) {
    return MAPPER.writeValueAsString(body);
  }
}
