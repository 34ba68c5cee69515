package dev.coatcheck.ids.idempotency;

import dev.coatcheck.core.id.Bucket;
import dev.coatcheck.core.id.Sha256;
import java.nio.ByteBuffer;
import java.util.UUID;

/**
 * The name that a client gave to a request which it may have to send again.
 *
 * @param owner the principal, which survives the rotation of API keys
 * @param text 1 to 255 visible ASCII characters, without the quotes of a structured field
 */
public record IdempotencyKey(String owner, String text) {

  /**
   * What its transactions lock, so that they come one after the other. Two keys with the same lock
   * only wait for each other without need.
   */
  public long lock() {
    return ByteBuffer.wrap(Sha256.of("once", owner, text)).getLong();
  }

  int bucket() {
    return Bucket.ofIdempotencyKey(owner, text);
  }

  /** What rows carry instead of both texts: half of a SHA-256, 16 bytes for up to 400. */
  UUID digest() {
    ByteBuffer half = ByteBuffer.wrap(Sha256.of(owner, text));
    return new UUID(half.getLong(), half.getLong());
  }
}
