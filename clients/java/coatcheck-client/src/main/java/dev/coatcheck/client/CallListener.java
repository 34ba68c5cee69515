package dev.coatcheck.client;

import java.time.Duration;

/**
 * Hears of each call when it ends, for metrics and logs. Called on the thread of the call, so it
 * must not wait, and not throw.
 */
@FunctionalInterface
public interface CallListener {
  /**
   * A call ended.
   *
   * @param operation what the contract calls it, such as {@code mintId}; for {@link
   *     CoatcheckClient#call} {@code raw}
   * @param status of the last answer, or 0 if no gateway answered
   * @param tries how often it was sent, 1 at least
   * @param took all tries with the waits between them
   */
  void ended(String operation, int status, int tries, Duration took);
}
