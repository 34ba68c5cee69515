package dev.coatcheck.keys;

import java.security.SecureRandom;
import java.util.UUID;
import java.util.function.LongSupplier;

/**
 * UUIDs of version 7 that rise within the process. Thread-safe.
 *
 * <pre>
 *  48 bits       4   12 bits    2   62 bits
 *  milliseconds  7   random     10  random
 * </pre>
 *
 * The 74 random bits come from {@link SecureRandom} in each new millisecond. Within a millisecond,
 * and while the machine's clock is behind the last UUID, they are counted up by a random step of 1
 * to 2^32, so that UUIDs rise and their neighbours can't be guessed from one alone. Two processes
 * draw different UUIDs by chance, as RFC 9562 has it: no lease is needed.
 */
public final class UuidV7s {
  private static final long VERSION = 7L << 12;
  private static final long VARIANT = 0x8000_0000_0000_0000L;
  private static final int HIGH_MASK = 0xfff;
  private static final long LOW_MASK = (1L << 62) - 1;
  private static final int BUFFER_BYTES = 4_096;

  private final LongSupplier wallMillis;
  private final SecureRandom random = new SecureRandom();
  private final byte[] buffer = new byte[BUFFER_BYTES];
  private int used = BUFFER_BYTES;

  private long millis = -1;
  private int high;
  private long low;

  /** By the machine's clock. */
  public UuidV7s() {
    this(System::currentTimeMillis);
  }

  UuidV7s(LongSupplier wallMillis) {
    this.wallMillis = wallMillis;
  }

  /** A new UUID, greater than any that this object made before. */
  public UUID next() {
    synchronized (buffer) {
      long now = wallMillis.getAsLong();
      if (now > millis) {
        millis = now;
        // The uppermost bit stays free, so that a millisecond has room for all that follows.
        high = (int) randomBits(16) & (HIGH_MASK >> 1);
        low = randomBits(64) & LOW_MASK;
      } else {
        low += 1 + randomBits(32);
        if (low > LOW_MASK) {
          low &= LOW_MASK;
          high++;
        }
        if (high > HIGH_MASK) {
          high = 0;
          millis++;
        }
      }
      return new UUID(millis << 16 | VERSION | high, VARIANT | low);
    }
  }

  /** Up to 64 random bits, from a buffer: one call of the source costs more than many bytes. */
  private long randomBits(int bits) {
    int bytes = bits / Byte.SIZE;
    if (used + bytes > buffer.length) {
      random.nextBytes(buffer);
      used = 0;
    }
    long value = 0;
    for (int i = 0; i < bytes; i++) {
      value = value << Byte.SIZE | (buffer[used] & 0xff);
      buffer[used++] = 0;
    }
    return value;
  }
}
