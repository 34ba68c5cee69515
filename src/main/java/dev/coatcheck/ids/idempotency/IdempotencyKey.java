package dev.coatcheck.ids.idempotency;

import dev.coatcheck.core.id.Bucket;

/**
 * The name that a client gave to a request which it may have to send again.
 *
 * @param owner the principal, which survives the rotation of API keys
 * @param text 1 to 255 visible ASCII characters, without the quotes of a structured field
 */
public record IdempotencyKey(String owner, String text) {

  int bucket() {
    return Bucket.ofIdempotencyKey(owner, text);
  }
}
