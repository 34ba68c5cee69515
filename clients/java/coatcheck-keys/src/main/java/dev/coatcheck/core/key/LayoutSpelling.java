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
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** How layouts are written, and the rules for every layout. */
final class LayoutSpelling {
  private static final String WORKERS = "\\d{1,2}(?:\\+\\d{1,2}){0,2}";

  /** The sequence comes last, or is marked and followed by worker fields. */
  private static final Pattern CUSTOM =
      Pattern.compile(
          "(?<time>\\d{1,2})(?:x(?<tick>[1-9]\\d{0,3}))?/"
              + "(?:(?<workers>"
              + WORKERS
              + ")/(?<sequence>\\d{1,2})|(?:(?<above>"
              + WORKERS
              + ")/)?s(?<marked>\\d{1,2})/(?<below>"
              + WORKERS
              + "))@(?<epoch>0|[1-9]\\d{0,13})");

  private static final List<Integer> TICKS_MILLIS = List.of(1, 4, 10, 1_000);
  private static final List<String> FIELD_NAMES = List.of("region", "datacentre", "worker");
  static final int BITS = 63;
  private static final int WORKER_BITS_MAX = 22;
  // With fewer keys per millisecond, a full draw would take seconds.
  private static final int KEYS_PER_MILLI_MIN = 8;
  private static final int SEQUENCE_BITS_MIN = 5;
  private static final int SEQUENCE_BITS_MAX = 22;

  private LayoutSpelling() {}

  static SnowflakeLayout accepted(String name) {
    LayoutParse parsed = parse(name);
    if (parsed instanceof LayoutParse.Known known) {
      return known.layout();
    }
    throw new IllegalArgumentException(((LayoutParse.Invalid) parsed).reason());
  }

  static LayoutParse parse(String text, Instant now) {
    LayoutParse parsed = parse(text);
    return parsed instanceof LayoutParse.Known known ? timely(known.layout(), now) : parsed;
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
              + " and custom ones spelled time/worker/sequence@epochMillis, or with ticks and"
              + " another order as in 39x10/s8/16@epochMillis");
    }
    boolean isUsual = matcher.group("workers") != null;
    int[] above = bits(isUsual ? matcher.group("workers") : matcher.group("above"));
    int[] below = bits(matcher.group("below"));
    int timeBits = Integer.parseInt(matcher.group("time"));
    int tickMillis = matcher.group("tick") == null ? 1 : Integer.parseInt(matcher.group("tick"));
    int sequenceBits = Integer.parseInt(matcher.group(isUsual ? "sequence" : "marked"));
    long epochMillis = Long.parseLong(matcher.group("epoch"));
    if (above.length + below.length > FIELD_NAMES.size()) {
      return new LayoutParse.Invalid("at most %d worker fields".formatted(FIELD_NAMES.size()));
    }
    List<Field> fields =
        fields(IntStream.concat(Arrays.stream(above), Arrays.stream(below)).toArray());
    return flaw(timeBits, tickMillis, fields, sequenceBits, epochMillis)
        .<LayoutParse>map(LayoutParse.Invalid::new)
        .orElseGet(
            () ->
                new LayoutParse.Known(
                    known(
                        new SnowflakeLayout(
                            "custom",
                            timeBits,
                            tickMillis,
                            fields,
                            sequenceBits,
                            below.length,
                            epochMillis))));
  }

  private static int[] bits(@Nullable String workers) {
    return workers == null
        ? new int[0]
        : Arrays.stream(workers.split("\\+", -1)).mapToInt(Integer::parseInt).toArray();
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

  /** A custom spelling of a named layout is that layout. Two names would mean two leases. */
  private static SnowflakeLayout known(SnowflakeLayout layout) {
    return SnowflakeLayout.NAMED.stream()
        .filter(named -> renamed(layout, named.name()).equals(named))
        .findFirst()
        .orElseGet(() -> renamed(layout, spelling(layout)));
  }

  private static SnowflakeLayout renamed(SnowflakeLayout layout, String name) {
    return new SnowflakeLayout(
        name,
        layout.timeBits(),
        layout.tickMillis(),
        layout.workerFields(),
        layout.sequenceBits(),
        layout.fieldsBelow(),
        layout.epochMillis());
  }

  /** The only spelling of a layout. It is also the name of the layout's leases. */
  private static String spelling(SnowflakeLayout layout) {
    List<Field> fields = layout.workerFields();
    int above = fields.size() - layout.fieldsBelow();
    List<String> parts = new ArrayList<>();
    parts.add(layout.timeBits() + (layout.tickMillis() == 1 ? "" : "x" + layout.tickMillis()));
    if (above > 0) {
      parts.add(bits(fields.subList(0, above)));
    }
    if (above == fields.size()) {
      parts.add(Integer.toString(layout.sequenceBits()));
    } else {
      parts.add("s" + layout.sequenceBits());
      parts.add(bits(fields.subList(above, fields.size())));
    }
    return String.join("/", parts) + "@" + layout.epochMillis();
  }

  private static String bits(List<Field> fields) {
    return fields.stream().map(f -> Integer.toString(f.bits())).collect(Collectors.joining("+"));
  }

  static Optional<String> flaw(
      int timeBits, int tickMillis, List<Field> workerFields, int sequenceBits, long epochMillis) {
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
    if (!TICKS_MILLIS.contains(tickMillis)) {
      return Optional.of("a tick lasts 1, 4, 10 or 1000 ms");
    }
    if (sequenceBits < SEQUENCE_BITS_MIN || sequenceBits > SEQUENCE_BITS_MAX) {
      return Optional.of(
          "sequence bits must be within %d..%d".formatted(SEQUENCE_BITS_MIN, SEQUENCE_BITS_MAX));
    }
    if (1 << sequenceBits < KEYS_PER_MILLI_MIN * tickMillis) {
      return Optional.of(
          "%d sequence bits are fewer than %d keys a millisecond"
              .formatted(sequenceBits, KEYS_PER_MILLI_MIN));
    }
    return epochMillis < 0 ? Optional.of("the epoch lies before 1970") : Optional.empty();
  }

  /** One field is the worker. If there are two or three, the leading ones locate the worker. */
  static List<Field> fields(int... bits) {
    List<Field> fields = new ArrayList<>();
    int skipped = FIELD_NAMES.size() - bits.length;
    for (int i = 0; i < bits.length; i++) {
      fields.add(new Field(FIELD_NAMES.get(skipped + i), bits[i]));
    }
    return List.copyOf(fields);
  }

  /** The millisecond of an instant, clamped to the range of a long. */
  static long millis(Instant instant) {
    if (instant.getEpochSecond() >= Long.MAX_VALUE / 1_000) {
      return Long.MAX_VALUE;
    }
    return instant.getEpochSecond() <= Long.MIN_VALUE / 1_000
        ? Long.MIN_VALUE
        : instant.toEpochMilli();
  }
}
