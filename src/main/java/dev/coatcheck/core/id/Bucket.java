package dev.coatcheck.core.id;

import java.security.MessageDigest;

/** The shard bucket of a row, one of 1024: the first ten bits of a SHA-256 digest. */
public final class Bucket {
  static final int MAX = Token.BUCKET_MAX;

  private Bucket() {}

  /**
   * The bucket of a mapping.
   *
   * @param keyBytes 8 bytes of a bigint or 16 of a UUID, big-endian
   */
  public static int ofKey(byte[] salt, byte[] keyBytes) {
    return firstTenBits(salted(salt).digest(keyBytes));
  }

  public static int ofAlias(byte[] salt, String scheme, String value) {
    return firstTenBits(Sha256.of(salted(salt), scheme, value));
  }

  public static int ofIdempotencyKey(String owner, String key) {
    return firstTenBits(Sha256.of(owner, key));
  }

  private static MessageDigest salted(byte[] salt) {
    MessageDigest digest = Sha256.start();
    digest.update(salt);
    return digest;
  }

  private static int firstTenBits(byte[] digest) {
    return (digest[0] & 0xff) << 2 | (digest[1] & 0xff) >> 6;
  }
}
