package dev.coatcheck.core.key;

import dev.coatcheck.core.key.SnowflakeLayout.Field;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** The written form of layouts, and the rules that every layout keeps. */
final class LayoutSpelling {
  private static final Pattern CUSTOM =
      Pattern.compile("(\\d{1,2})/(\\d{1,2}(?:\\+\\d{1,2}){0,2})/(\\d{1,2})@(0|[1-9]\\d{0,13})");
  private static final List<String> FIELD_NAMES = List.of("region", "datacentre", "worker");
  static final int BITS = 63;
  private static final int WORKER_BITS_MAX = 20;
  // Fewer than 32 keys a millisecond would hold a full draw up for more than half a second.
  private static final int SEQUENCE_BITS_MIN = 5;
  private static final int SEQUENCE_BITS_MAX = 22;

  private LayoutSpelling() {}

  static SnowflakeLayout accepted(String name) {
    return switch (parse(name)) {
      case LayoutParse.Known(SnowflakeLayout layout) -> layout;
      case LayoutParse.Invalid(String reason) -> throw new IllegalArgumentException(reason);
    };
  }

  static LayoutParse parse(String text, Instant now) {
    return switch (parse(text)) {
      case LayoutParse.Known(SnowflakeLayout layout) -> timely(layout, now);
      case LayoutParse.Invalid invalid -> invalid;
    };
  }

  private static LayoutParse parse(String text) {
    Optional<SnowflakeLayout> named = SnowflakeLayout.named(text);
    if (named.isPresent()) {
      return new LayoutParse.Known(named.get());
    }
    Matcher matcher = CUSTOM.matcher(text);
    if (!matcher.matches()) {
      return new LayoutParse.Invalid(
          "no layout has this name; known are "
              + SnowflakeLayout.NAMED.stream()
                  .map(SnowflakeLayout::name)
                  .collect(Collectors.joining(", "))
              + " and custom ones spelled time/worker/sequence@epochMillis");
    }
    int[] workerBits =
        Arrays.stream(matcher.group(2).split("\\+", -1)).mapToInt(Integer::parseInt).toArray();
    int timeBits = Integer.parseInt(matcher.group(1));
    int sequenceBits = Integer.parseInt(matcher.group(3));
    long epochMillis = Long.parseLong(matcher.group(4));
    Optional<String> flaw = flaw(timeBits, fields(workerBits), sequenceBits, epochMillis);
    if (flaw.isPresent()) {
      return new LayoutParse.Invalid(flaw.get());
    }
    return new LayoutParse.Known(known(timeBits, fields(workerBits), sequenceBits, epochMillis));
  }

  private static LayoutParse timely(SnowflakeLayout layout, Instant now) {
    if (layout.epochMillis() > now.toEpochMilli()) {
      return new LayoutParse.Invalid("the epoch lies in the future");
    }
    if (layout.endMillis() <= now.toEpochMilli()) {
      return new LayoutParse.Invalid(
          "the layout ended at " + Instant.ofEpochMilli(layout.endMillis()));
    }
    return new LayoutParse.Known(layout);
  }

  /** A custom spelling of a named layout is that layout: two names would mean two leases. */
  private static SnowflakeLayout known(
      int timeBits, List<Field> workerFields, int sequenceBits, long epochMillis) {
    String workers =
        workerFields.stream().map(f -> Integer.toString(f.bits())).collect(Collectors.joining("+"));
    String name = "%d/%s/%d@%d".formatted(timeBits, workers, sequenceBits, epochMillis);
    SnowflakeLayout custom =
        new SnowflakeLayout(name, timeBits, workerFields, sequenceBits, epochMillis);
    return SnowflakeLayout.NAMED.stream()
        .filter(
            layout ->
                layout.timeBits() == timeBits
                    && layout.workerFields().equals(workerFields)
                    && layout.sequenceBits() == sequenceBits
                    && layout.epochMillis() == epochMillis)
        .findFirst()
        .orElse(custom);
  }

  static Optional<String> flaw(
      int timeBits, List<Field> workerFields, int sequenceBits, long epochMillis) {
    int workerBits = workerFields.stream().mapToInt(Field::bits).sum();
    if (timeBits + workerBits + sequenceBits != BITS) {
      return Optional.of(
          "the bits add up to %d, not %d".formatted(timeBits + workerBits + sequenceBits, BITS));
    }
    if (timeBits < 1 || workerFields.stream().anyMatch(field -> field.bits() < 1)) {
      return Optional.of("every field needs at least one bit");
    }
    if (workerBits > WORKER_BITS_MAX) {
      return Optional.of("at most %d worker bits".formatted(WORKER_BITS_MAX));
    }
    if (sequenceBits < SEQUENCE_BITS_MIN || sequenceBits > SEQUENCE_BITS_MAX) {
      return Optional.of(
          "sequence bits must be within %d..%d".formatted(SEQUENCE_BITS_MIN, SEQUENCE_BITS_MAX));
    }
    return epochMillis < 0 ? Optional.of("the epoch lies before 1970") : Optional.empty();
  }

  /** One field is the worker; of two and three the leading ones say where the worker is. */
  static List<Field> fields(int... bits) {
    List<Field> fields = new ArrayList<>();
    int skipped = FIELD_NAMES.size() - bits.length;
    for (int i = 0; i < bits.length; i++) {
      fields.add(new Field(FIELD_NAMES.get(skipped + i), bits[i]));
    }
    return List.copyOf(fields);
  }

  /** An instant's millisecond; instants that no long of milliseconds can hold are clamped. */
  static long millis(Instant instant) {
    if (instant.getEpochSecond() >= Long.MAX_VALUE / 1_000) {
      return Long.MAX_VALUE;
    }
    return instant.getEpochSecond() <= Long.MIN_VALUE / 1_000
        ? Long.MIN_VALUE
        : instant.toEpochMilli();
  }
}
