package dev.coatcheck.ids.idempotency;

import dev.coatcheck.core.id.Bucket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
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
    try {
      byte[] text = ("once\0" + owner + '\0' + this.text).getBytes(StandardCharsets.UTF_8);
      return ByteBuffer.wrap(MessageDigest.getInstance("SHA-256").digest(text)).getLong();
    } catch (NoSuchAlgorithmException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  int bucket() {
    return Bucket.ofIdempotencyKey(owner, text);
  }

  /** What rows carry instead of both texts: half of a SHA-256, 16 bytes for up to 400. */
  UUID digest() {
    try {
      MessageDigest sha256 = MessageDigest.getInstance("SHA-256");
      ByteBuffer half =
          ByteBuffer.wrap(sha256.digest((owner + '\0' + text).getBytes(StandardCharsets.UTF_8)));
      return new UUID(half.getLong(), half.getLong());
    } catch (NoSuchAlgorithmException impossible) {
      throw new IllegalStateException(impossible);
    }
  }
}
