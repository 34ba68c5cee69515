package dev.coatcheck.postgres.session;

/**
 * How long a silent connection is trusted to have a working statement, in milliseconds.
 *
 * @param lookMillis between two questions on the second connection
 * @param answerMillisMax for each answer
 * @param silenceMillisMax without any answer, until the connection is broken off
 * @param idleMillisMax with an idle backend, until the connection is broken off
 */
public record WatchTimeouts(
    int lookMillis, int answerMillisMax, int silenceMillisMax, int idleMillisMax) {
  public static final WatchTimeouts DEFAULT = new WatchTimeouts(5_000, 10_000, 30_000, 10_000);
}
