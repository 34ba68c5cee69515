package dev.coatcheck.core.key;

/** Who makes the keys of a type for mints that bring none. */
public sealed interface KeyGeneration permits KeyTimes, KeyGeneration.Segment, KeyGeneration.None {
  String SNOWFLAKE = "snowflake";
  String SEGMENT = "segment";
  String UUIDV7 = "uuidv7";
  String NONE = "none";

  record Segment(String tag) implements KeyGeneration {}

  /** The application makes all keys, and each mint brings one. */
  record None() implements KeyGeneration {}

  /** That of a type which names none. */
  static KeyGeneration usual(KeyKind kind) {
    return switch (kind) {
      case BIGINT -> new KeyTimes.Snowflakes(SnowflakeLayout.DEFAULT);
      case UUID -> new KeyTimes.UuidsV7();
    };
  }

  /** The name in requests, answers and the database. */
  default String wireName() {
    return switch (this) {
      case KeyTimes.Snowflakes _ -> SNOWFLAKE;
      case KeyTimes.UuidsV7 _ -> UUIDV7;
      case Segment _ -> SEGMENT;
      case None _ -> NONE;
    };
  }

  /** Whether a type with keys of this kind can have it. */
  default boolean fits(KeyKind kind) {
    return switch (this) {
      case KeyTimes times -> kind == times.kind();
      case Segment _ -> kind == KeyKind.BIGINT;
      case None _ -> true;
    };
  }
}
