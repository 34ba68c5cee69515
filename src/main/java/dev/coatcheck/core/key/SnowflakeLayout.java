package dev.coatcheck.core.key;

import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * How the 63 bits of a Snowflake key are divided, as data.
 *
 * <pre>
 *  63 62                        22 21        12 11         0
 *   0 | milliseconds since epoch  |   worker   |  sequence  |     the default layout
 * </pre>
 *
 * The worker bits may be several fields, the leading one uppermost. A <i>position</i> is a moment
 * in the life of one worker, {@code milliseconds << sequenceBits | sequence}: positions only rise,
 * and a run of them needs no loop.
 */
public record SnowflakeLayout(
    String name, int timeBits, List<Field> workerFields, int sequenceBits, long epochMillis) {

  /** A named part of the worker bits. */
  public record Field(String name, int bits) {}

  /** The worker, in the default layout, of keys for given times; see {@link #datedWorker}. */
  public static final int DATED_WORKER = 1_021;

  /** The worker, in the default layout, of the keys that a backfill gives to old rows. */
  public static final int BACKFILL_WORKER = 1_022;

  /** The worker, in the default layout, of the keys that Postgres itself gives to new rows. */
  public static final int NUMBER_SOURCE_WORKER = 1_023;

  private static final long JANUARY_2023 = 1_672_531_200_000L;
  private static final int WORKERS_LEASED_MAX = DATED_WORKER;
  private static final int WORKERS_RESERVED = 3;
  private static final int WORKERS_MIN_TO_RESERVE = 8;

  public static final SnowflakeLayout DEFAULT =
      new SnowflakeLayout("default", 41, LayoutSpelling.fields(10), 12, JANUARY_2023);
  public static final SnowflakeLayout TWITTER =
      new SnowflakeLayout("twitter", 41, LayoutSpelling.fields(5, 5), 12, 1_288_834_974_657L);
  public static final SnowflakeLayout WIDE_SEQUENCE =
      new SnowflakeLayout("wide-sequence", 41, LayoutSpelling.fields(8), 14, 1_609_459_200_000L);
  public static final SnowflakeLayout REGIONAL =
      new SnowflakeLayout("regional", 41, LayoutSpelling.fields(3, 3, 4), 12, JANUARY_2023);

  /** The layouts that have a name. */
  public static final List<SnowflakeLayout> NAMED =
      List.of(DEFAULT, TWITTER, WIDE_SEQUENCE, REGIONAL);

  public SnowflakeLayout {
    workerFields = List.copyOf(workerFields);
    LayoutSpelling.flaw(timeBits, workerFields, sequenceBits, epochMillis)
        .ifPresent(
            flaw -> {
              throw new IllegalArgumentException(flaw);
            });
  }

  public static Optional<SnowflakeLayout> named(String name) {
    return NAMED.stream().filter(layout -> layout.name.equals(name)).findFirst();
  }

  /**
   * Reads a name, or a custom layout spelled {@code time/worker[+worker…]/sequence@epochMillis}
   * such as {@code 41/5+5/12@1288834974657}. The spelling is the custom layout's name.
   */
  public static LayoutParse parse(String text, Instant now) {
    return LayoutSpelling.parse(text, now);
  }

  /**
   * The layout of a name that {@link #parse} accepted once, also after its time has ended.
   *
   * @throws IllegalArgumentException if it never was one
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

  /** How many bits of a key lie below its milliseconds. */
  public int timeShift() {
    return workerBits() + sequenceBits;
  }

  /** The highest number of a key within one millisecond of its worker; also its bit mask. */
  public long sequenceMax() {
    return (1L << sequenceBits) - 1;
  }

  /**
   * Workers 0 up to this one, exclusive, are leased. The three highest are {@link #datedWorker}
   * and, without a lease, {@link #BACKFILL_WORKER} and {@link #NUMBER_SOURCE_WORKER}, which make
   * keys inside Postgres.
   */
  public int workersLeased() {
    return isTiny() ? workers() : Math.min(workers() - WORKERS_RESERVED, WORKERS_LEASED_MAX);
  }

  /**
   * The worker of keys for given times. It is never leased: nobody knows which milliseconds of its
   * past a leased worker has used. Empty for layouts of less than 8 workers.
   */
  public OptionalInt datedWorker() {
    return isTiny() ? OptionalInt.empty() : OptionalInt.of(workersLeased());
  }

  /** Workers 0 up to this one, exclusive, are shared out by ranges. */
  public int workersShared() {
    return workersLeased() + (isTiny() ? 0 : 1);
  }

  private boolean isTiny() {
    return workers() < WORKERS_MIN_TO_RESERVE;
  }

  /** The worker given field by field, the leading one first. */
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
      worker = worker << field.bits() | parts[i];
    }
    return worker;
  }

  /** The first millisecond that the layout can no longer express. */
  public long endMillis() {
    return epochMillis + (1L << timeBits);
  }

  /** Whole days until the layout ends; 0 once it has. */
  public long daysLeft(Instant now) {
    return Math.max(0, (endMillis() - now.toEpochMilli()) / 86_400_000L);
  }

  /** The first position of a millisecond, which may lie before the epoch or after the end. */
  public long position(long unixMillis) {
    return (unixMillis - epochMillis) << sequenceBits;
  }

  /** The millisecond of a position. */
  public long millisOf(long position) {
    return (position >> sequenceBits) + epochMillis;
  }

  /**
   * The key of a position.
   *
   * @throws EndOfTimeException beyond the last millisecond
   */
  public long key(long position, int worker) {
    long millis = position >> sequenceBits;
    if (millis < 0) {
      throw new IllegalStateException(
          "layout %s begins at %s".formatted(name, Instant.ofEpochMilli(epochMillis)));
    }
    if (millis >= 1L << timeBits) {
      throw new EndOfTimeException(this);
    }
    return (millis << workerBits() | worker) << sequenceBits | (position & sequenceMax());
  }

  /** The position of a key in the life of its worker. */
  public long positionOf(long key) {
    return ((key >> timeShift()) << sequenceBits) | (key & sequenceMax());
  }

  /** The first position at which every worker's key exceeds a number. */
  public long positionAbove(long number) {
    return ((number >> timeShift()) + 1) << sequenceBits;
  }

  public Instant timeOf(long key) {
    return Instant.ofEpochMilli(millisSinceEpoch(key) + epochMillis);
  }

  /** When a key was made, in milliseconds since the layout's epoch. */
  public long millisSinceEpoch(long key) {
    return key >> timeShift();
  }

  public int workerOf(long key) {
    return (int) (key >>> sequenceBits) & (workers() - 1);
  }

  /**
   * The keys that the milliseconds from {@code first} to {@code last}, both inclusive, can hold;
   * nothing when none of them lies within the layout's time.
   */
  public Optional<KeyBounds> bounds(Instant first, Instant last) {
    long from = Math.max(LayoutSpelling.millis(first), epochMillis) - epochMillis;
    long to = Math.min(LayoutSpelling.millis(last), endMillis() - 1) - epochMillis;
    if (from > to) {
      return Optional.empty();
    }
    int shift = timeShift();
    return Optional.of(
        new KeyBounds(
            new Key.Bigint(from << shift), new Key.Bigint(to << shift | ((1L << shift) - 1))));
  }
}
