package dev.coatcheck.ids.idempotency;

/**
 * The result of a call that may have an Idempotency-Key.
 *
 * @param <T> the outcome of the work
 */
public sealed interface IdempotentResult<T> {
  /** The call had no key; the work is done. */
  record Unkeyed<T>(T outcome) implements IdempotentResult<T> {}

  /**
   * The answer to the key, now and from now on.
   *
   * @param replayed whether an earlier request did the work
   */
  record Answered<T>(StoredResponse answer, boolean replayed) implements IdempotentResult<T> {}

  /** The key belongs to another request. Nothing was done. */
  record KeyReused<T>() implements IdempotentResult<T> {}

  /** Another transaction works on the key. Nothing was done. */
  record Busy<T>() implements IdempotentResult<T> {}
}
