package dev.coatcheck.ids.access;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * How many requests are allowed in a span of time.
 *
 * @param requests 1 to 1,000,000
 * @param seconds 1 to 3,600
 */
public record RateLimit(int requests, int seconds) {
  public static final int REQUESTS_MAX = 1_000_000;
  public static final int SECONDS_MAX = 3_600;

  private static final Pattern TEXT = Pattern.compile("([0-9]{1,7})/([0-9]{1,4})");

  public RateLimit {
    if (!isValid(requests, seconds)) {
      throw new IllegalArgumentException("no rate limit: " + requests + " in " + seconds + " s");
    }
  }

  /**
   * Whether this allows as many requests at once as the other limit, and as many for each second:
   * 100 in 10 s covers 10 in 1 s, but not the other way round.
   */
  boolean covers(RateLimit other) {
    return requests >= other.requests
        && (long) requests * other.seconds >= (long) other.requests * seconds;
  }

  /** Reads requests and seconds, {@code 1000/1}; empty if the text is no limit. */
  public static Optional<RateLimit> parse(String text) {
    Matcher parts = TEXT.matcher(text);
    if (!parts.matches()) {
      return Optional.empty();
    }
    int requests = Integer.parseInt(parts.group(1));
    int seconds = Integer.parseInt(parts.group(2));
    return isValid(requests, seconds)
        ? Optional.of(new RateLimit(requests, seconds))
        : Optional.empty();
  }

  private static boolean isValid(int requests, int seconds) {
    return requests >= 1 && requests <= REQUESTS_MAX && seconds >= 1 && seconds <= SECONDS_MAX;
  }
}
