package dev.coatcheck.core.scheme;

import java.time.Instant;
import java.util.Optional;

/**
 * An ID of ten bytes. Each character of its text encodes five bits.
 *
 * <pre>
 * 0                  39 40       48           64          80
 * | 4 ms since 2010  |t | metabyte | partition | sequence |
 * </pre>
 *
 * <p>Source: github.com/muyo/sno. Texts sort by time.
 *
 * @param tick units of 4 ms since 2010, below 2^39, which is in September 2079
 * @param isTock the bit that changes whenever the clock of the generator steps back
 * @param metabyte chosen by the caller, 0 to 255
 * @param partition of the generator, 0 to 65535
 * @param sequence within the tick, 0 to 65535
 */
public record SnoId(long tick, boolean isTock, int metabyte, int partition, int sequence) {
  public static final Instant EPOCH = Instant.parse("2010-01-01T00:00:00Z");
  public static final int MILLIS_PER_TICK = 4;
  public static final int METABYTE_MAX = 0xff;
  public static final int PARTITION_MAX = 0xffff;
  public static final int SEQUENCE_MAX = 0xffff;

  /** The first tick that doesn't fit. */
  static final long TICK_END = 1L << 39;

  private static final String ALPHABET = "23456789abcdefghijklmnopqrstuvwx";
  private static final int LENGTH = 16;
  private static final int HALF_LENGTH = 8;
  private static final int BITS_PER_CHARACTER = 5;

  public SnoId {
    require("tick", tick, TICK_END - 1);
    require("metabyte", metabyte, METABYTE_MAX);
    require("partition", partition, PARTITION_MAX);
    require("sequence", sequence, SEQUENCE_MAX);
  }

  /** Parses exactly the texts that {@link #toString} returns. */
  public static Optional<SnoId> parse(String text) {
    if (text.length() != LENGTH || !text.chars().allMatch(c -> ALPHABET.indexOf(c) >= 0)) {
      return Optional.empty();
    }
    long time = value(text, 0);
    long payload = value(text, HALF_LENGTH);
    return Optional.of(
        new SnoId(
            time >> 1,
            (time & 1) == 1,
            (int) (payload >> 32),
            (int) (payload >> 16) & PARTITION_MAX,
            (int) payload & SEQUENCE_MAX));
  }

  /** The tick of a time, which may be before the epoch. */
  static long tickOf(long unixMillis) {
    return Math.floorDiv(unixMillis - EPOCH.toEpochMilli(), MILLIS_PER_TICK);
  }

  static Instant timeOf(long tick) {
    return EPOCH.plusMillis(tick * MILLIS_PER_TICK);
  }

  /** The time of the ID, to 4 ms. */
  public Instant time() {
    return timeOf(tick);
  }

  /** The same ID with another metabyte, as unique as this one within that metabyte. */
  public SnoId withMetabyte(int other) {
    return new SnoId(tick, isTock, other, partition, sequence);
  }

  /** The same ID with another partition. The caller must know that it is unique there. */
  public SnoId withPartition(int other) {
    return new SnoId(tick, isTock, metabyte, other, sequence);
  }

  @Override
  public String toString() {
    StringBuilder text = new StringBuilder(LENGTH);
    spell(tick << 1 | (isTock ? 1 : 0), text);
    spell((long) metabyte << 32 | (long) partition << 16 | sequence, text);
    return text.toString();
  }

  private static void spell(long half, StringBuilder text) {
    for (int i = HALF_LENGTH - 1; i >= 0; i--) {
      text.append(ALPHABET.charAt((int) (half >> (i * BITS_PER_CHARACTER)) & 31));
    }
  }

  private static long value(String text, int start) {
    long half = 0;
    for (int i = start; i < start + HALF_LENGTH; i++) {
      half = half << BITS_PER_CHARACTER | ALPHABET.indexOf(text.charAt(i));
    }
    return half;
  }

  private static void require(String what, long value, long most) {
    if (value < 0 || value > most) {
      throw new IllegalArgumentException(what + " " + value + " is not within 0.." + most);
    }
  }
}
