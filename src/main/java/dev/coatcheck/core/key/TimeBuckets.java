package dev.coatcheck.core.key;

import java.time.Instant;
import java.util.List;
import java.util.stream.LongStream;

/**
 * Spans of equal length, numbered from 0 at an epoch. Tables can be partitioned by the time in
 * their keys this way, and a reader of the newest rows starts with the highest number.
 *
 * @param epochMillis the start of bucket 0
 * @param bucketMillis the length of a bucket, at least 1 ms
 */
public record TimeBuckets(long epochMillis, long bucketMillis) {
  public TimeBuckets {
    if (bucketMillis < 1) {
      throw new IllegalArgumentException("a bucket lasts 1 ms at least, not " + bucketMillis);
    }
  }

  public long numberOf(Instant instant) {
    return Math.floorDiv(instant.toEpochMilli() - epochMillis, bucketMillis);
  }

  public Instant begin(long number) {
    return Instant.ofEpochMilli(epochMillis + number * bucketMillis);
  }

  /** The end of a bucket, exclusive. */
  public Instant end(long number) {
    return begin(number + 1);
  }

  /** How many buckets a half-open span touches; 0 for an empty span. */
  public long count(Instant from, Instant to) {
    return from.isBefore(to) ? numberOf(last(to)) - numberOf(from) + 1 : 0;
  }

  /** The buckets that a half-open span touches, newest first. */
  public List<Long> newestFirst(Instant from, Instant to) {
    long newest = numberOf(last(to));
    return LongStream.range(0, count(from, to)).mapToObj(age -> newest - age).toList();
  }

  private static Instant last(Instant to) {
    return to.minusNanos(1);
  }
}
