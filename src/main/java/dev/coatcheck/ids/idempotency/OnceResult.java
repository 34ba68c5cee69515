package dev.coatcheck.ids.idempotency;

/**
 * What became of a call that may have an Idempotency-Key.
 *
 * @param <T> the outcome of the work
 */
public sealed interface OnceResult<T> {
  /** The call had no key; the work is done. */
  record Unkeyed<T>(T outcome) implements OnceResult<T> {}

  /**
   * The answer to the key, now and from now on.
   *
   * @param replayed whether an earlier request did the work
   */
  record Answered<T>(Recorded answer, boolean replayed) implements OnceResult<T> {}

  /** The key belongs to another request. Nothing was done. */
  record KeyReused<T>() implements OnceResult<T> {}

  /** Another transaction works on the key. Nothing was done. */
  record Busy<T>() implements OnceResult<T> {}
}
