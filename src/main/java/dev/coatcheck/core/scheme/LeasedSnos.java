package dev.coatcheck.core.scheme;

import dev.coatcheck.core.key.SnowflakeLayout;

/**
 * Snos from a leased worker. The keys of a layout with the epoch of snos are unique because of
 * their leases. A key becomes a sno bit by bit: a tick is four milliseconds, so the two lowest bits
 * of the time become the highest bits of the sequence. The worker becomes the partition.
 *
 * <pre>
 * | milliseconds 41        | worker 8 | sequence 14 |   the key
 * | ticks 39 | 0 | metabyte | partition | 2 + 14     |   the sno
 * </pre>
 */
public final class LeasedSnos {
  /** The layout of the keys. Its workers are partitions 0 to 253. */
  public static final SnowflakeLayout LAYOUT =
      SnowflakeLayout.accepted("41/8/14@" + SnoId.EPOCH.toEpochMilli());

  private static final int BITS_OF_A_TICK = 2;

  private LeasedSnos() {}

  /** The sno of a key of the {@link #LAYOUT}, unique among all keys with any metabyte. */
  public static SnoId of(long key, int metabyte) {
    long millis = LAYOUT.millisSinceEpoch(key);
    int millisOfTick = (int) millis & (SnoId.MILLIS_PER_TICK - 1);
    return new SnoId(
        millis >> BITS_OF_A_TICK,
        false,
        metabyte,
        LAYOUT.workerOf(key),
        (millisOfTick << LAYOUT.sequenceBits()) | (int) LAYOUT.sequenceOf(key));
  }
}
