package dev.coatcheck.ids.access;

/**
 * How many requests are allowed in a span of time.
 *
 * @param requests 1 to 1,000,000
 * @param seconds 1 to 3,600
 */
public record RateLimit(int requests, int seconds) {
  public static final int REQUESTS_MAX = 1_000_000;
  public static final int SECONDS_MAX = 3_600;

  public RateLimit {
    if (requests < 1 || requests > REQUESTS_MAX || seconds < 1 || seconds > SECONDS_MAX) {
      throw new IllegalArgumentException("no rate limit: " + requests + " in " + seconds + " s");
    }
  }

  /**
   * Whether this allows at least as many requests for each second as the other limit: 100 in 10 s
   * covers 10 in 1 s. How many may come at once is not compared.
   */
  boolean covers(RateLimit other) {
    return (long) requests * other.seconds >= (long) other.requests * seconds;
  }
}
