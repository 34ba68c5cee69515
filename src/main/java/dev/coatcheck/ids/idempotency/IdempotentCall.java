package dev.coatcheck.ids.idempotency;

import java.util.function.Function;

/**
 * A call that is done once, however often it is sent.
 *
 * @param requestHash SHA-256 of the request, in hex, and behind it what stands for the caller's
 *     types; another request with the same key is refused
 * @param answer turns the outcome into the stored response; called inside the transaction, so it
 *     must not have other effects
 * @param <T> the outcome of the call
 */
public record IdempotentCall<T>(
    IdempotencyKey key, String requestHash, Function<T, StoredResponse> answer) {

  private static final int REQUEST_DIGITS = 64;

  /** Whether only the types of the callers differ. */
  boolean differsByTypes(String hash) {
    return !requestHash.equals(hash) && requestHash.regionMatches(0, hash, 0, REQUEST_DIGITS);
  }

  /** The same call, whose answer is not stored: only one that was stored before is repeated. */
  public IdempotentCall<T> unstored() {
    return new IdempotentCall<>(key, requestHash, answer.andThen(StoredResponse::changeable));
  }
}
