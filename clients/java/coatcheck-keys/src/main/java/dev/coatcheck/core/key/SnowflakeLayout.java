package dev.coatcheck.core.key;

import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * How the 63 bits of a Snowflake key are divided, as data.
 *
 * <pre>
 *  63 62                        22 21        12 11         0
 *   0 | milliseconds since epoch  |   worker   |  sequence  |     the default layout
 *
 *  63 62                      24 23       16 15            0
 *   0 |    ticks since epoch    | sequence  |    worker     |     Sonyflake's, with ticks of 10 ms
 * </pre>
 *
 * Time comes first, so that keys sort by time. The worker bits may consist of several fields, the
 * leading field uppermost, and the sequence may be above any of them. A <i>position</i> is {@code
 * ticks << sequenceBits | sequence}: a moment in the life of one worker. Positions only rise, and a
 * run of positions needs no loop. The time of a key is the first millisecond of its tick.
 *
 * @param tickMillis the length of a tick: 1, 4, 10 or 1,000 ms
 * @param fieldsBelow how many worker fields are below the sequence
 */
public record SnowflakeLayout(
    String name,
    int timeBits,
    int tickMillis,
    List<Field> workerFields,
    int sequenceBits,
    int fieldsBelow,
    long epochMillis) {

  /** A named part of the worker bits. */
  public record Field(String name, int bits) {}

  private static final long JANUARY_2023 = 1_672_531_200_000L;
  public static final SnowflakeLayout DEFAULT = usual("default", JANUARY_2023, 12, 10);
  public static final SnowflakeLayout TWITTER = usual("twitter", 1_288_834_974_657L, 12, 5, 5);
  public static final SnowflakeLayout WIDE_SEQUENCE =
      usual("wide-sequence", 1_609_459_200_000L, 14, 8);
  public static final SnowflakeLayout REGIONAL = usual("regional", JANUARY_2023, 12, 3, 3, 4);

  public static final List<SnowflakeLayout> NAMED =
      List.of(DEFAULT, TWITTER, WIDE_SEQUENCE, REGIONAL);

  public SnowflakeLayout {
    workerFields = List.copyOf(workerFields);
    LayoutSpelling.flaw(timeBits, tickMillis, workerFields, sequenceBits, epochMillis)
        .ifPresent(
            flaw -> {
              throw new IllegalArgumentException(flaw);
            });
  }

  private static SnowflakeLayout usual(
      String name, long epochMillis, int sequenceBits, int... workerBits) {
    return new SnowflakeLayout(
        name, 41, 1, LayoutSpelling.fields(workerBits), sequenceBits, 0, epochMillis);
  }

  public static Optional<SnowflakeLayout> named(String name) {
    return NAMED.stream().filter(layout -> layout.name.equals(name)).findFirst();
  }

  /**
   * Parses a name, or a custom layout spelled {@code time/worker[+worker…]/sequence@epochMillis}
   * such as {@code 41/5+5/12@1288834974657}. Ticks longer than a millisecond follow the bits of the
   * time, and an {@code s} marks a sequence that is not last: {@code 39x10/s8/16@1735689600000} is
   * Sonyflake's. The spelling is the name of the custom layout.
   */
  public static LayoutParse parse(String text, Instant now) {
    return LayoutSpelling.parse(text, now);
  }

  /**
   * The layout of a name that {@link #parse} has accepted before, even if its time has ended since.
   *
   * @throws IllegalArgumentException if the name was never valid
   */
  public static SnowflakeLayout accepted(String name) {
    return LayoutSpelling.accepted(name);
  }

  public int workerBits() {
    return LayoutSpelling.BITS - timeBits - sequenceBits;
  }

  public int workers() {
    return 1 << workerBits();
  }

  /** How many bits of a key are below its time. */
  public int timeShift() {
    return LayoutSpelling.BITS - timeBits;
  }

  /**
   * How many bits of a key are below its sequence: the keys of two neighbouring positions of a tick
   * are {@code 1 << keyShift} apart, for any one worker.
   */
  public int keyShift() {
    int bits = 0;
    for (int i = workerFields.size() - fieldsBelow; i < workerFields.size(); i++) {
      bits += workerFields.get(i).bits();
    }
    return bits;
  }

  /** The highest sequence number within a tick. It is also the bit mask of the sequence. */
  public long sequenceMax() {
    return (1L << sequenceBits) - 1;
  }

  /** The worker from its fields, the leading field first. */
  public int worker(int... parts) {
    if (parts.length != workerFields.size()) {
      throw new IllegalArgumentException(
          "layout %s has %d worker fields, not %d"
              .formatted(name, workerFields.size(), parts.length));
    }
    int worker = 0;
    for (int i = 0; i < parts.length; i++) {
      Field field = workerFields.get(i);
      if (parts[i] < 0 || parts[i] >= 1 << field.bits()) {
        throw new IllegalArgumentException(
            "%s %d is not within 0..%d".formatted(field.name(), parts[i], (1 << field.bits()) - 1));
      }
      worker = (worker << field.bits()) | parts[i];
    }
    return worker;
  }

  public boolean holds(Instant time) {
    long millis = LayoutSpelling.millis(time);
    return millis >= epochMillis && millis < endMillis();
  }

  /** The first millisecond after the end of the layout. */
  public long endMillis() {
    return epochMillis + (1L << timeBits) * tickMillis;
  }

  /** Whole days until the layout ends; 0 after the end. */
  public long daysLeft(Instant now) {
    return Math.max(0, (endMillis() - now.toEpochMilli()) / 86_400_000L);
  }

  /**
   * The first position of the tick that contains a millisecond. It may be before the epoch or after
   * the end.
   */
  public long position(long unixMillis) {
    return ticks(unixMillis - epochMillis) << sequenceBits;
  }

  /** The first position of the ticks that begin at a millisecond or later. */
  public long positionFrom(long unixMillis) {
    return ticksFrom(unixMillis - epochMillis) << sequenceBits;
  }

  /**
   * Whole ticks. Avoids the slow division for ticks of 1 ms, because every draw calls this twice.
   */
  private long ticks(long millis) {
    return tickMillis == 1 ? millis : Math.floorDiv(millis, (long) tickMillis);
  }

  private long ticksFrom(long millis) {
    return ticks(millis + tickMillis - 1);
  }

  /** The first Unix millisecond of the tick of a position. */
  public long millisOf(long position) {
    return (position >> sequenceBits) * tickMillis + epochMillis;
  }

  /**
   * The key of a position.
   *
   * @throws IllegalStateException before the first millisecond or beyond the last
   */
  public long key(long position, int worker) {
    long ticks = position >> sequenceBits;
    if (ticks < 0) {
      throw new IllegalStateException(
          "layout %s begins at %s".formatted(name, Instant.ofEpochMilli(epochMillis)));
    }
    if (ticks >= 1L << timeBits) {
      throw new IllegalStateException(
          "layout %s ended at %s; its types need another layout"
              .formatted(name, Instant.ofEpochMilli(endMillis())));
    }
    long sequence = position & sequenceMax();
    if (fieldsBelow == 0) {
      return (((ticks << workerBits()) | worker) << sequenceBits) | sequence;
    }
    int below = keyShift();
    long upper =
        (((ticks << (workerBits() - below)) | (worker >> below)) << sequenceBits) | sequence;
    return (upper << below) | (worker & mask(below));
  }

  private static long mask(int bits) {
    return (1L << bits) - 1;
  }

  public long positionOf(long key) {
    return ((key >> timeShift()) << sequenceBits) | sequenceOf(key);
  }

  /** The first position whose key exceeds a number, for every worker. */
  public long positionAbove(long number) {
    return ((number >> timeShift()) + 1) << sequenceBits;
  }

  public Instant timeOf(long key) {
    return Instant.ofEpochMilli(millisSinceEpoch(key) + epochMillis);
  }

  /** The time of a key, in milliseconds since the epoch of the layout. */
  public long millisSinceEpoch(long key) {
    return (key >> timeShift()) * tickMillis;
  }

  public long sequenceOf(long key) {
    return (key >>> keyShift()) & sequenceMax();
  }

  public int workerOf(long key) {
    int below = keyShift();
    long upper = key >>> (sequenceBits + below);
    return (int) ((upper << below) | (key & mask(below))) & (workers() - 1);
  }

  /**
   * The bounds of the keys of the ticks that begin from millisecond {@code first} to {@code last},
   * both inclusive; empty if no such tick is within the layout's time.
   */
  public Optional<KeyBounds> bounds(Instant first, Instant last) {
    long begin = Math.max(LayoutSpelling.millis(first), epochMillis) - epochMillis;
    long from = ticksFrom(begin);
    long to = ticks(Math.min(LayoutSpelling.millis(last), endMillis() - 1) - epochMillis);
    if (from > to) {
      return Optional.empty();
    }
    int shift = timeShift();
    return Optional.of(
        new KeyBounds(
            new Key.Bigint(from << shift), new Key.Bigint(to << shift | ((1L << shift) - 1))));
  }
}
