package dev.coatcheck.core.key;

import java.nio.ByteBuffer;
import java.util.UUID;

/** An internal primary key. */
public sealed interface Key permits Key.Bigint, Key.Uuid {

  /** Big-endian: 8 bytes of a bigint, 16 of a UUID. */
  byte[] toBytes();

  /** The only spelling: decimal digits without leading zeros, or 36 lower-case characters. */
  String text();

  /** A bigint key, 0 to 2^63 − 1. */
  record Bigint(long value) implements Key {
    public Bigint {
      if (value < 0) {
        throw new IllegalArgumentException("a bigint key is never negative: " + value);
      }
    }

    @Override
    public byte[] toBytes() {
      return ByteBuffer.allocate(Long.BYTES).putLong(value).array();
    }

    @Override
    public String text() {
      return Long.toString(value);
    }
  }

  /** A UUID key of any version. */
  record Uuid(UUID value) implements Key {
    @Override
    public byte[] toBytes() {
      return ByteBuffer.allocate(2 * Long.BYTES)
          .putLong(value.getMostSignificantBits())
          .putLong(value.getLeastSignificantBits())
          .array();
    }

    @Override
    public String text() {
      return value.toString();
    }
  }
}
