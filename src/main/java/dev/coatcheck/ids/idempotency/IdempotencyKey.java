package dev.coatcheck.ids.idempotency;

import dev.coatcheck.core.id.Bucket;
import dev.coatcheck.core.id.Sha256;
import java.nio.ByteBuffer;
import java.util.UUID;

/**
 * The name that a client gives to a request which it may have to repeat.
 *
 * @param owner the principal, which stays the same when API keys are rotated
 * @param text 1 to 255 visible ASCII characters, without the quotes of a structured field
 */
public record IdempotencyKey(String owner, String text) {

  /**
   * The lock that serializes the transactions of the key. Two keys with the same lock only wait for
   * each other without need.
   */
  public long lock() {
    return ByteBuffer.wrap(Sha256.of("once", owner, text)).getLong();
  }

  int bucket() {
    return Bucket.ofIdempotencyKey(owner, text);
  }

  /** Stored in rows instead of both texts: half of a SHA-256, 16 bytes instead of up to 400. */
  UUID digest() {
    ByteBuffer half = ByteBuffer.wrap(Sha256.of(owner, text));
    return new UUID(half.getLong(), half.getLong());
  }
}
