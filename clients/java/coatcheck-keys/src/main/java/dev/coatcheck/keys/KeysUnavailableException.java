package dev.coatcheck.keys;

import java.time.Duration;

/**
 * There is no key now. The message says why: no worker is free, the window has ended while Postgres
 * or the gateway did not answer, or the clock stepped back. The caller may ask again after {@link
 * #retryAfter}.
 */
public final class KeysUnavailableException extends RuntimeException {
  private static final long serialVersionUID = 1;
  private static final long RETRY_AFTER_MILLIS_MAX = 3_600_000;

  private final Duration retryAfter;

  private KeysUnavailableException(String reason, Duration retryAfter) {
    super(reason + "; ask again in " + retryAfter.toMillis() + " ms");
    this.retryAfter = retryAfter;
  }

  KeysUnavailableException(String reason, long retryAfterMillis) {
    this(reason, Duration.ofMillis(Math.min(retryAfterMillis, RETRY_AFTER_MILLIS_MAX)));
  }

  /** When a key is likely to be there: at least 1 ms, an hour at most. */
  public Duration retryAfter() {
    return retryAfter;
  }
}
