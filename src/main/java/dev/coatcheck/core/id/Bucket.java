package dev.coatcheck.core.id;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/** Which of 1024 shard buckets a row belongs to: the first ten bits of a SHA-256 digest. */
public final class Bucket {
  static final int MAX = 1023;

  // Looking the algorithm up costs nearly as much as the digest; a clone of an unused one does not.
  private static final MessageDigest UNUSED_SHA256 = sha256();
  private static final byte SEPARATOR = 0;

  private Bucket() {}

  /**
   * The bucket of a mapping.
   *
   * @param keyBytes a bigint's 8 bytes or a UUID's 16, big-endian
   */
  public static int ofKey(byte[] salt, byte[] keyBytes) {
    MessageDigest digest = newDigest();
    digest.update(salt);
    return firstTenBits(digest.digest(keyBytes));
  }

  public static int ofAlias(byte[] salt, String scheme, String value) {
    MessageDigest digest = newDigest();
    digest.update(salt);
    return ofPair(digest, scheme, value);
  }

  public static int ofIdempotencyKey(String owner, String key) {
    return ofPair(newDigest(), owner, key);
  }

  private static int ofPair(MessageDigest digest, String first, String second) {
    digest.update(first.getBytes(StandardCharsets.UTF_8));
    digest.update(SEPARATOR);
    return firstTenBits(digest.digest(second.getBytes(StandardCharsets.UTF_8)));
  }

  private static int firstTenBits(byte[] digest) {
    return (digest[0] & 0xff) << 2 | (digest[1] & 0xff) >> 6;
  }

  private static MessageDigest newDigest() {
    try {
      return (MessageDigest) UNUSED_SHA256.clone();
    } catch (CloneNotSupportedException e) {
      throw new IllegalStateException("this Java's SHA-256 can't be cloned", e);
    }
  }

  private static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-256", e);
    }
  }
}
