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
 * <p>Containers share network cards and all run as process 1, so both fields tell the leased worker
 * instead: the address is one that no card has (it is locally administered), and ends with the
 * worker. Source: {@code docs/message_id.md} of github.com/apache/rocketmq-clients.
 */
public final class RocketMqId {
  /** Whose keys are taken: its epoch is that of the identifiers. */
  public static final SnowflakeLayout LAYOUT = SnowflakeLayout.WIDE_SEQUENCE;

  /** {@code 02} is "locally administered", the rest says coat in ASCII. */
  private static final String ADDRESS_START = "02636F6174";

  private static final String PROCESS = "0001";
  private static final long MILLIS_PER_SECOND = TimeUnit.SECONDS.toMillis(1);

  private RocketMqId() {}

  /** The identifier of a key of the {@link #LAYOUT}; no other key has it. */
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
