package dev.coatcheck.ids.access;

import java.util.Iterator;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Counts the requests of each caller against a {@link RateLimit}. A bucket holds as many tokens as
 * the limit has requests, and fills evenly over its seconds; each request takes one. So a caller
 * may send the whole quota at once, and at most twice the quota within any window.
 *
 * <p><b>Time.</b> A bucket is one number, the time at which it will be full. To take a token is to
 * move that time later by the time that one token needs; a bucket whose time is past is full. (The
 * generic cell rate algorithm, ITU-T I.371.)
 *
 * <p><b>Memory.</b> A full bucket says nothing, so it can be dropped without loss. A new caller
 * that finds {@link #BUCKETS_MAX} buckets takes the place of a full one, or else of the fullest of
 * {@value #LOOKED_AT_MAX}; never of an empty one, or a caller could empty its quota and get another
 * by sending from other addresses. If all that were looked at are empty, the new caller is refused.
 *
 * @param <K> what tells callers apart, and their limits if these can change; not an array
 */
public final class TokenBuckets<K> {
  /** About 150 bytes each. */
  public static final int BUCKETS_MAX = 50_000;

  /** How many buckets a new caller examines to find room. */
  private static final int LOOKED_AT_MAX = 8;

  /** The time of a bucket that was dropped while another thread had it in its hands. */
  private static final long DROPPED = Long.MIN_VALUE;

  /** How long a caller waits that finds no room. */
  private static final int NO_ROOM_SECONDS = 1;

  private final LongSupplier nanoTime;
  private final long startNano;
  private final int bucketsMax;
  private final Map<K, Bucket> buckets = new ConcurrentHashMap<>();

  /** Goes round all buckets; used under the lock only. */
  private Iterator<Map.Entry<K, Bucket>> hand = buckets.entrySet().iterator();

  public TokenBuckets(LongSupplier nanoTime) {
    this(nanoTime, BUCKETS_MAX);
  }

  TokenBuckets(LongSupplier nanoTime, int bucketsMax) {
    this.nanoTime = nanoTime;
    this.startNano = nanoTime.getAsLong();
    this.bucketsMax = bucketsMax;
  }

  /** Whether there were enough tokens. */
  public sealed interface Taken {
    /** How many requests are left. */
    int left();

    /**
     * The tokens were taken.
     *
     * @param fullSeconds when the bucket is full again, rounded up
     */
    record Granted(int left, int fullSeconds) implements Taken {}

    /**
     * Nothing was taken.
     *
     * @param waitSeconds when there will be enough, rounded up
     */
    record Refused(int left, int waitSeconds) implements Taken {}
  }

  /** Takes a token for a request. */
  public Taken take(K caller, RateLimit limit) {
    return take(caller, limit, 1, 0);
  }

  /**
   * Takes the tokens of a request that counts as several.
   *
   * @param requests at most those of the limit: more would never be granted
   * @param taken how many of them were taken before
   */
  public Taken take(K caller, RateLimit limit, int requests, int taken) {
    if (requests > limit.requests() || taken < 0 || taken > requests) {
      throw new IllegalArgumentException(requests + " requests, " + taken + " taken, of " + limit);
    }
    long now = nanoTime.getAsLong() - startNano;
    Taken outcome;
    do {
      Bucket known = buckets.get(caller);
      Bucket bucket = known != null ? known : add(caller, limit, now);
      outcome =
          bucket == null
              ? new Taken.Refused(0, NO_ROOM_SECONDS)
              : bucket.take(requests, taken, now);
    } while (outcome == null);
    return outcome;
  }

  int size() {
    return buckets.size();
  }

  /** Null if there is no room for a new one. */
  private synchronized @Nullable Bucket add(K caller, RateLimit limit, long now) {
    if (!buckets.containsKey(caller) && buckets.size() >= bucketsMax && !makeRoom(now)) {
      return null;
    }
    return buckets.computeIfAbsent(caller, _ -> new Bucket(limit, now));
  }

  private boolean makeRoom(long now) {
    Map.Entry<K, Bucket> fullest = null;
    for (int looked = 0; looked < LOOKED_AT_MAX; looked++) {
      if (!hand.hasNext()) {
        hand = buckets.entrySet().iterator();
      }
      Map.Entry<K, Bucket> next = hand.next();
      double share = next.getValue().share(now);
      if (share == 1 && drop(next, now)) {
        return true;
      }
      if (fullest == null || share > fullest.getValue().share(now)) {
        fullest = next;
      }
    }
    return fullest != null && drop(fullest, now);
  }

  private boolean drop(Map.Entry<K, Bucket> entry, long now) {
    return entry.getValue().drop(now) && buckets.remove(entry.getKey(), entry.getValue());
  }

  private static final class Bucket {
    private final RateLimit limit;

    /** The time that one token needs, rounded up. */
    private final long tokenNanos;

    /** The time at which the bucket will be full, or was full. */
    private final AtomicLong fullNano;

    Bucket(RateLimit limit, long now) {
      this.limit = limit;
      this.tokenNanos =
          Math.ceilDiv(TimeUnit.SECONDS.toNanos(limit.seconds()), (long) limit.requests());
      this.fullNano = new AtomicLong(now);
    }

    /** Null if the bucket was dropped. */
    @Nullable Taken take(int requests, int taken, long now) {
      long capacityNanos = limit.requests() * tokenNanos;
      while (true) {
        long before = fullNano.get();
        if (before == DROPPED) {
          return null;
        }
        long missingNanos = Math.max(0, before - now);
        long afterNanos = missingNanos + (requests - taken) * tokenNanos;
        if (afterNanos > capacityNanos) {
          return new Taken.Refused(
              left(missingNanos), seconds(missingNanos + requests * tokenNanos - capacityNanos));
        }
        if (fullNano.compareAndSet(before, now + afterNanos)) {
          return new Taken.Granted(left(afterNanos), seconds(afterNanos));
        }
      }
    }

    /** Drops the bucket unless it is empty, or is used at the same time. */
    boolean drop(long now) {
      long before = fullNano.get();
      return before != DROPPED && left(before - now) > 0 && fullNano.compareAndSet(before, DROPPED);
    }

    /** How full the bucket is, from 0 to 1. */
    double share(long now) {
      return (double) left(fullNano.get() - now) / limit.requests();
    }

    private int left(long missingNanos) {
      return (int) (limit.requests() - Math.ceilDiv(Math.max(0, missingNanos), tokenNanos));
    }

    private static int seconds(long nanos) {
      return (int) Math.ceilDiv(nanos, TimeUnit.SECONDS.toNanos(1));
    }
  }
}
