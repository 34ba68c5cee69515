package dev.coatcheck.core.key;

import java.time.Instant;
import java.util.Optional;
import java.util.UUID;

/** Generated keys with the time of their generation, and how they carry it. */
public sealed interface KeyTimes extends KeyGeneration {

  record Snowflakes(SnowflakeLayout layout) implements KeyTimes {}

  record UuidsV7() implements KeyTimes {}

  default KeyKind kind() {
    return switch (this) {
      case Snowflakes _ -> KeyKind.BIGINT;
      case UuidsV7 _ -> KeyKind.UUID;
    };
  }

  /** The Unix millisecond of the first key. */
  default long epochMillis() {
    return switch (this) {
      case Snowflakes(SnowflakeLayout layout) -> layout.epochMillis();
      case UuidsV7 _ -> 0;
    };
  }

  /** The tick that a key of this kind carries; empty for a UUID of another version. */
  default Optional<Tick> tickOf(Key key) {
    return switch (this) {
      case Snowflakes(SnowflakeLayout layout) ->
          Optional.of(new Tick(layout.timeOf(((Key.Bigint) key).value()), layout.tickMillis()));
      case UuidsV7 _ -> tickOf(((Key.Uuid) key).value());
    };
  }

  private static Optional<Tick> tickOf(UUID value) {
    return value.version() == 7 && value.variant() == 2
        ? Optional.of(new Tick(Instant.ofEpochMilli(value.getMostSignificantBits() >>> 16), 1))
        : Optional.empty();
  }

  /** A half-open span of time, the shortest that keys distinguish. */
  record Tick(Instant begin, int millis) {
    public Instant end() {
      return begin.plusMillis(millis);
    }
  }

  default boolean hold(Instant time) {
    return switch (this) {
      case Snowflakes(SnowflakeLayout layout) -> layout.holds(time);
      case UuidsV7 _ -> UuidV7.bounds(time, time).isPresent();
    };
  }

  /**
   * The bounds of the keys with times from millisecond {@code first} to {@code last}, both
   * inclusive; empty if there are no such keys. A caller's own key may carry no time.
   */
  default Optional<KeyBounds> bounds(Instant first, Instant last) {
    return switch (this) {
      case Snowflakes(SnowflakeLayout layout) -> layout.bounds(first, last);
      case UuidsV7 _ -> UuidV7.bounds(first, last);
    };
  }

  /**
   * The bounds of the keys of a half-open span, from {@code from} to before {@code to}. The time of
   * a key is the first millisecond of its tick, so consecutive spans neither overlap nor leave a
   * gap.
   */
  default Optional<KeyBounds> between(Instant from, Instant to) {
    return bounds(firstMilli(from), firstMilli(to).minusMillis(1));
  }

  /** The first whole millisecond at or after an instant. */
  private static Instant firstMilli(Instant instant) {
    return Instant.ofEpochMilli(instant.plusNanos(999_999).toEpochMilli());
  }
}
