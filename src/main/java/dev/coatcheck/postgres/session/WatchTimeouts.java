package dev.coatcheck.postgres.session;

/**
 * How long a silent connection is believed to have a statement that works. All in milliseconds.
 *
 * @param lookMillis between two questions on the second connection
 * @param answerMillisMax for the answer to each
 * @param silenceMillisMax without any answer, until the connection is broken off
 * @param idleMillisMax that the backend is idle though we wait for its answer, until then
 */
public record WatchTimeouts(
    int lookMillis, int answerMillisMax, int silenceMillisMax, int idleMillisMax) {
  public static final WatchTimeouts DEFAULT = new WatchTimeouts(5_000, 10_000, 30_000, 10_000);
}
