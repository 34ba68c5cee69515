package dev.coatcheck.bench.load;

import dev.coatcheck.bench.machine.MeasureFailed;
import java.util.List;

/**
 * What came of a load.
 *
 * @param served requests that were answered with success
 * @param refused requests that were answered with 429 or 503
 * @param broken requests whose connection ended before the answer
 * @param p50Millis of the served requests
 * @param p99Millis of the served requests: 99 of 100 took no longer
 * @param timeline second by second; empty if the generator doesn't keep it
 */
public record LoadResult(
    long served,
    long refused,
    long broken,
    double seconds,
    double p50Millis,
    double p99Millis,
    List<Second> timeline) {

  /**
   * What happened within one second, counted from the start of the load.
   *
   * @param p99Millis of the served requests, from when they were due
   * @param refusedP99Millis of the refused requests, from when they were sent
   */
  public record Second(
      int second,
      long sent,
      long served,
      long refused,
      long broken,
      double p99Millis,
      double refusedP99Millis) {}

  /** Where only the number and the time are known. */
  public static LoadResult of(long served, double seconds) {
    return new LoadResult(served, 0, 0, seconds, 0, 0, List.of());
  }

  public double servedPerSecond() {
    return served / seconds;
  }

  /**
   * The same result, where nearly all was served.
   *
   * @throws MeasureFailed if a connection broke, or more than a hundredth was refused: the speed of
   *     refusals is no capacity
   */
  public LoadResult requireServed(String what) {
    if (served == 0 || broken > 0 || refused * 100 > served) {
      throw new MeasureFailed(
          "%s: %,d requests served, %,d refused, %,d broken off"
              .formatted(what, served, refused, broken));
    }
    return this;
  }
}
