package dev.coatcheck.keys;

import java.time.Duration;

/**
 * There is no key now. The message says why: no worker is free, the window has ended while Postgres
 * or the gateway did not answer, or the clock stepped back. The caller may ask again after {@link
 * #retryAfter}.
 */
public final class KeysUnavailableException extends RuntimeException {
  private static final long serialVersionUID = 1;

  private final Duration retryAfter;

  KeysUnavailableException(String reason, long retryAfterMillis) {
    super(reason + "; ask again in " + retryAfterMillis + " ms");
    this.retryAfter = Duration.ofMillis(retryAfterMillis);
  }

  /** When a key is likely to be there: at least 1 ms, an hour at most. */
  public Duration retryAfter() {
    return retryAfter;
  }
}
