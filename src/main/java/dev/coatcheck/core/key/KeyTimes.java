package dev.coatcheck.core.key;

import java.time.Instant;
import java.util.Optional;
import java.util.UUID;

/**
 * How the keys of a scheme carry their time.
 *
 * @param layout of Snowflakes; not used for UUIDv7
 */
public record KeyTimes(KeyScheme scheme, SnowflakeLayout layout) {

  /** The Unix millisecond of the first key. */
  public long epochMillis() {
    return switch (scheme) {
      case SNOWFLAKE -> layout.epochMillis();
      case UUIDV7 -> 0;
    };
  }

  /** The tick that a key carries; empty for a UUID of another version. */
  public Optional<Tick> tickOf(Key key) {
    return switch (key) {
      case Key.Bigint(long value) ->
          Optional.of(new Tick(layout.timeOf(value), layout.tickMillis()));
      case Key.Uuid(UUID value) ->
          value.version() == 7 && value.variant() == 2
              ? Optional.of(
                  new Tick(Instant.ofEpochMilli(value.getMostSignificantBits() >>> 16), 1))
              : Optional.empty();
    };
  }

  /** A half-open span of time, the shortest that keys distinguish. */
  public record Tick(Instant begin, int millis) {
    public Instant end() {
      return begin.plusMillis(millis);
    }
  }

  public boolean hold(Instant time) {
    return switch (scheme) {
      case SNOWFLAKE -> layout.holds(time);
      case UUIDV7 -> UuidV7.bounds(time, time).isPresent();
    };
  }

  /**
   * The bounds of the keys with times from millisecond {@code first} to {@code last}, both
   * inclusive; empty if there are no such keys.
   */
  public Optional<KeyBounds> bounds(Instant first, Instant last) {
    return switch (scheme) {
      case SNOWFLAKE -> layout.bounds(first, last);
      case UUIDV7 -> UuidV7.bounds(first, last);
    };
  }

  /**
   * The bounds of the keys of a half-open span, from {@code from} to before {@code to}. The time of
   * a key is the first millisecond of its tick, so consecutive spans neither overlap nor leave a
   * gap.
   */
  public Optional<KeyBounds> between(Instant from, Instant to) {
    return bounds(firstMilli(from), firstMilli(to).minusMillis(1));
  }

  /** The first whole millisecond at or after an instant. */
  private static Instant firstMilli(Instant instant) {
    return Instant.ofEpochMilli(instant.plusNanos(999_999).toEpochMilli());
  }
}
