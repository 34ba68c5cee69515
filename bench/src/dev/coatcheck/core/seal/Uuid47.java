package dev.coatcheck.core.seal;

import java.util.UUID;

/**
 * UUIDv47: a UUIDv7 whose 48 bits of time are masked with the SipHash-2-4 of its own random bits,
 * and whose version says 4. Written after the description at github.com/stateless-me/uuidv47.
 */
final class Uuid47 {
  private static final long MASK_48 = (1L << 48) - 1;
  private static final int MESSAGE_BYTES = 10;

  private final long k0;
  private final long k1;

  /** By the two halves of a key of 128 bits, little-endian. */
  Uuid47(long k0, long k1) {
    this.k0 = k0;
    this.k1 = k1;
  }

  UUID hide(UUID v7) {
    return masked(v7, 4);
  }

  UUID show(UUID v4) {
    return masked(v4, 7);
  }

  private UUID masked(UUID uuid, long version) {
    long high = uuid.getMostSignificantBits();
    long low = uuid.getLeastSignificantBits();
    long time = (high >>> 16) ^ (mask(high, low) & MASK_48);
    return new UUID(time << 16 | version << 12 | (high & 0xfff), low);
  }

  /**
   * Of the 10 bytes that hold the 74 random bits: the lower half of byte 6, byte 7, byte 8 without
   * its variant, bytes 9 to 15.
   */
  private long mask(long high, long low) {
    long random = Long.reverseBytes(low & 0x3fff_ffff_ffff_ffffL);
    // Little-endian: the first byte of the message is the lowest.
    long first = (high >>> 8 & 0xf) | (high & 0xff) << 8 | random << 16;
    return sipHash(first, (long) MESSAGE_BYTES << 56 | random >>> 48);
  }

  /**
   * SipHash-2-4 of 8 to 15 bytes. Source: J.-P. Aumasson and D. J. Bernstein, "SipHash: a fast
   * short-input PRF", 2012.
   *
   * @param first the first 8 bytes, little-endian
   * @param last the others, and in the highest byte how many there are in all
   */
  long sipHash(long first, long last) {
    long v0 = k0 ^ 0x736f6d6570736575L;
    long v1 = k1 ^ 0x646f72616e646f6dL;
    long v2 = k0 ^ 0x6c7967656e657261L;
    long v3 = k1 ^ 0x7465646279746573L;
    for (int step = 0; step < 8; step++) {
      long word = step < 2 ? first : step < 4 ? last : 0;
      boolean begins = step == 0 || step == 2;
      boolean ends = step == 1 || step == 3;
      if (begins) {
        v3 ^= word;
      }
      if (step == 4) {
        v2 ^= 0xff;
      }
      v0 += v1;
      v2 += v3;
      v1 = Long.rotateLeft(v1, 13) ^ v0;
      v3 = Long.rotateLeft(v3, 16) ^ v2;
      v0 = Long.rotateLeft(v0, 32);
      v2 += v1;
      v0 += v3;
      v1 = Long.rotateLeft(v1, 17) ^ v2;
      v3 = Long.rotateLeft(v3, 21) ^ v0;
      v2 = Long.rotateLeft(v2, 32);
      if (ends) {
        v0 ^= word;
      }
    }
    return v0 ^ v1 ^ v2 ^ v3;
  }
}
