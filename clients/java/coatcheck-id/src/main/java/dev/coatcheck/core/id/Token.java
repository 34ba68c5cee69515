package dev.coatcheck.core.id;

import java.nio.ByteBuffer;
import java.util.HexFormat;
import java.util.UUID;

/** The 128-bit payload of a public ID, an unsigned number. Its lowest ten bits are the bucket. */
public record Token(long high, long low) implements Comparable<Token> {
  static final int BUCKET_MAX = 1023;

  /** The same 128 bits as Postgres stores them. They have no UUID version and no variant. */
  public UUID toUuid() {
    return new UUID(high, low);
  }

  public static Token of(UUID uuid) {
    return new Token(uuid.getMostSignificantBits(), uuid.getLeastSignificantBits());
  }

  /** The shard hint, 0..1023. */
  public int bucket() {
    return (int) low & BUCKET_MAX;
  }

  /** 16 bytes, big-endian. */
  public byte[] toBytes() {
    return ByteBuffer.allocate(16).putLong(high).putLong(low).array();
  }

  /** Unsigned, which is also the order of the texts and of Postgres. */
  @Override
  public int compareTo(Token other) {
    int order = Long.compareUnsigned(high, other.high);
    return order != 0 ? order : Long.compareUnsigned(low, other.low);
  }

  @Override
  public String toString() {
    HexFormat hex = HexFormat.of();
    return hex.toHexDigits(high) + hex.toHexDigits(low);
  }
}
