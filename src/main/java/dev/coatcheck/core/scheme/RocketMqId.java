package dev.coatcheck.core.scheme;

import dev.coatcheck.core.key.SnowflakeLayout;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/**
 * Message identifiers of RocketMQ, version 1, from a leased worker.
 *
 * <pre>
 * | 01 | MAC 48 | process 16 | seconds since 2021 32 | sequence 32 |
 * </pre>
 *
 * <p>Containers share network cards and all run as process 1, so both fields carry the leased
 * worker instead. The address belongs to no network card, because it is locally administered; it
 * ends with the worker. Source: {@code docs/message_id.md} of github.com/apache/rocketmq-clients.
 */
public final class RocketMqId {
  /** The layout of the keys. It has the epoch of the identifiers. */
  public static final SnowflakeLayout LAYOUT = SnowflakeLayout.WIDE_SEQUENCE;

  /** {@code 02} means "locally administered"; the rest is "coat" in ASCII. */
  private static final String ADDRESS_START = "02636F6174";

  private static final String PROCESS = "0001";
  private static final long MILLIS_PER_SECOND = TimeUnit.SECONDS.toMillis(1);

  private RocketMqId() {}

  /** The identifier of a key of the {@link #LAYOUT}. No other key has the same identifier. */
  public static String of(long key) {
    long millis = LAYOUT.millisSinceEpoch(key);
    long sequence =
        ((millis % MILLIS_PER_SECOND) << LAYOUT.sequenceBits()) | LAYOUT.sequenceOf(key);
    return String.format(
        Locale.ROOT,
        "01%s%02X%s%08X%08X",
        ADDRESS_START,
        LAYOUT.workerOf(key),
        PROCESS,
        millis / MILLIS_PER_SECOND,
        sequence);
  }
}
