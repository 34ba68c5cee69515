package dev.coatcheck.ids.idempotency;

/**
 * The result of a call that may have an Idempotency-Key.
 *
 * @param <T> the outcome of the work
 */
public sealed interface IdempotentResult<T> {
  /** The outcome of a call that is known to have no key. */
  default T outcome() {
    throw new IllegalStateException("the call had an Idempotency-Key: " + this);
  }

  /** The call had no key; the work is done. */
  record Unkeyed<T>(T outcome) implements IdempotentResult<T> {}

  /**
   * The response to the key, now and for every repetition.
   *
   * @param replayed whether an earlier request did the work
   */
  record Answered<T>(StoredResponse answer, boolean replayed) implements IdempotentResult<T> {}

  /**
   * The key was used for another request. Nothing was done.
   *
   * @param forOtherTypes whether it was this request, of a caller with other types
   */
  record KeyReused<T>(boolean forOtherTypes) implements IdempotentResult<T> {}

  /** Another transaction is using the key. Nothing was done. */
  record Busy<T>() implements IdempotentResult<T> {}
}
