package dev.coatcheck.ids.redirect;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import dev.coatcheck.postgres.connection.WithoutWaiting;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Detects a visitor who tries legacy IDs one after the other, and refuses that visitor for a while:
 * legacy IDs are easy to guess, and the public IDs behind them are not meant to be listed.
 *
 * <p>A visitor may ask for {@value #NUMBERS_MAX} different numbers of a type within {@value
 * #WINDOW_SECONDS} s that lie near each other or at equal steps, and may miss {@value #MISSES_MAX}
 * times. Beyond that all its numbers are refused: for a minute, then two, four, up to 64.
 */
public final class ScanGuard {
  public static final int WINDOW_SECONDS = 60;
  public static final int NUMBERS_MAX = 40;
  static final int MISSES_MAX = 60;

  private static final int DOUBLINGS_MAX = 6;
  private static final long WINDOW_NANOS = TimeUnit.SECONDS.toNanos(WINDOW_SECONDS);

  /** About 4 kB each at most. */
  private static final int VISITORS_MAX = 5_000;

  private static final Duration FORGOTTEN_AFTER = Duration.ofHours(2);

  private final LongSupplier nanoTime;
  private final Cache<Visitor, VisitorState> standings;
  private final Cache<Path, RequestHistory> histories;

  ScanGuard(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
    this.standings =
        Caffeine.newBuilder()
            .maximumSize(VISITORS_MAX)
            .expireAfterAccess(FORGOTTEN_AFTER)
            .ticker(nanoTime::getAsLong)
            .build();
    this.histories =
        Caffeine.newBuilder()
            .maximumSize(VISITORS_MAX)
            .expireAfterAccess(Duration.ofNanos(WINDOW_NANOS))
            .ticker(nanoTime::getAsLong)
            .build();
  }

  private record Path(Visitor visitor, int typeNumber) {}

  /** How long the visitor is still refused, in seconds; 0 if it isn't. */
  int refusedSeconds(Visitor visitor) {
    VisitorState standing = standings.getIfPresent(visitor);
    return standing == null ? 0 : standing.refusedSeconds(nanoTime.getAsLong());
  }

  /** Remembers a number; how long the visitor is refused from now on, 0 if it isn't. */
  int asked(Visitor visitor, int typeNumber, long number) {
    long now = nanoTime.getAsLong();
    Path path = new Path(visitor, typeNumber);
    RequestHistory history =
        histories.get(path, _ -> new RequestHistory(WINDOW_NANOS, NUMBERS_MAX));
    if (!history.leadsOn(number, now)) {
      return 0;
    }
    WithoutWaiting.leave(); // a refusal is logged, which can make its thread wait
    histories.invalidate(path);
    return standing(visitor, now).refuse(now);
  }

  /** Records that a visitor asked for an unknown legacy ID. */
  void missed(Visitor visitor) {
    long now = nanoTime.getAsLong();
    standing(visitor, now).missed(now);
  }

  private VisitorState standing(Visitor visitor, long now) {
    return standings.get(visitor, _ -> new VisitorState(now));
  }

  /** What is known of a visitor. */
  private static final class VisitorState {
    private long refusedUntil;
    private long missesFrom;
    private int misses;
    private int refusals;

    VisitorState(long now) {
      this.refusedUntil = now;
      this.missesFrom = now;
    }

    synchronized int refusedSeconds(long now) {
      return (int) Math.max(0, Math.ceilDiv(refusedUntil - now, TimeUnit.SECONDS.toNanos(1)));
    }

    synchronized int refuse(long now) {
      refusedUntil = now + (WINDOW_NANOS << Math.min(refusals, DOUBLINGS_MAX));
      refusals++;
      return refusedSeconds(now);
    }

    synchronized void missed(long now) {
      if (now - missesFrom >= WINDOW_NANOS) {
        missesFrom = now;
        misses = 0;
      }
      misses++;
      if (misses > MISSES_MAX) {
        misses = 0;
        refuse(now);
      }
    }
  }
}
