package dev.coatcheck.ids.registry;

import dev.coatcheck.core.id.Bucket;
import dev.coatcheck.core.id.Sha256;
import dev.coatcheck.core.key.Key;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.UUID;

/**
 * Sixteen random bytes of a type, mixed into the bucket of every key, so that a bucket reveals
 * nothing about the key. Immutable, and part of a type's exports.
 */
public final class Salt {
  static final int BYTES = 16;

  private final byte[] bytes;

  Salt(byte[] bytes) {
    if (bytes.length != BYTES) {
      throw new IllegalArgumentException("a salt has 16 bytes, this one " + bytes.length);
    }
    this.bytes = bytes.clone();
  }

  /** The bucket, 0 to 1023, where the key's row lies. */
  public int bucketOf(Key key) {
    return Bucket.ofKey(bytes, key.toBytes());
  }

  /** The bucket, 0 to 1023, where an alias's row lies. */
  public int bucketOfAlias(String scheme, String value) {
    return Bucket.ofAlias(bytes, scheme, value);
  }

  /** Half of a SHA-256 that identifies an alias without showing it. */
  public UUID hashOfAlias(String scheme, String value, String namespace) {
    MessageDigest digest = Sha256.start();
    digest.update(bytes);
    digest.update((scheme + '\0' + value + '\0' + namespace).getBytes(StandardCharsets.UTF_8));
    ByteBuffer half = ByteBuffer.wrap(digest.digest());
    return new UUID(half.getLong(), half.getLong());
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Salt that && Arrays.equals(bytes, that.bytes);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(bytes);
  }

  byte[] bytes() {
    return bytes.clone();
  }
}
