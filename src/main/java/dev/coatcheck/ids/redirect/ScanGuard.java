package dev.coatcheck.ids.redirect;

import static java.util.Objects.requireNonNull;

import dev.coatcheck.core.attempt.NonBlockingAttempt;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Detects a visitor who tries legacy IDs one after the other, and refuses that visitor for a while:
 * legacy IDs are easy to guess, and the public IDs behind them are not meant to be listed.
 *
 * <p>Within any {@value #WINDOW_SECONDS} s a visitor may ask for {@value #NUMBERS_MAX} different
 * numbers of a type that lie near each other or at equal steps, for {@value #ALTOGETHER_MAX} in
 * all, wherever they lie, and may miss {@value #MISSES_MAX} times. Beyond that all its numbers are
 * refused: for a minute, then two, four, up to 64.
 *
 * <p><b>Memory.</b> A history holds all that a visitor may ask for, so taking turns among regions
 * pushes nothing out of it. At most {@link #VISITORS_MAX} visitors are watched and as many refused,
 * in 32 MB. Of those that are watched, the one that has been silent for longest makes room; a
 * refused one never does. What finds no room counts against its visitor: with a step that was not
 * remembered, {@value #NUMBERS_MAX} numbers are the limit wherever they lie, and a refusal without
 * memory lasts while the history says so.
 */
public final class ScanGuard {
  public static final int WINDOW_SECONDS = 60;
  public static final int NUMBERS_MAX = 40;

  /** Three pages of {@link #NUMBERS_MAX} links. */
  static final int ALTOGETHER_MAX = 120;

  static final int MISSES_MAX = 60;
  static final int VISITORS_MAX = 100_000;
  static final long WINDOW_MILLIS = TimeUnit.SECONDS.toMillis(WINDOW_SECONDS);

  /** Steps of all visitors together, of 16 bytes each. */
  private static final int STEPS_MAX = 262_144;

  private static final int DOUBLINGS_MAX = 6;
  private static final long FORGOTTEN_AFTER_MILLIS = TimeUnit.HOURS.toMillis(2);

  /** How many visitors a request examines to make room for its own. */
  private static final int LOOKED_AT_MAX = 8;

  private final LongSupplier nanoTime;
  private final long startNanos;
  private final RequestHistory.Memory memory = new RequestHistory.Memory(STEPS_MAX);

  /** The visitor that has been silent the longest comes first. */
  private final Map<Visitor, RequestHistory> watched = new LinkedHashMap<>(16, 0.75f, true);

  private final Map<Visitor, Refusal> refused = new LinkedHashMap<>(16, 0.75f, true);

  /** That a visitor was refused, once or more often, and until when. */
  private static final class Refusal {
    private long untilMillis;
    private long seenMillis;
    private int times;

    boolean isOver(long nowMillis) {
      return untilMillis <= nowMillis;
    }

    boolean isForgotten(long nowMillis) {
      return nowMillis - seenMillis >= FORGOTTEN_AFTER_MILLIS;
    }
  }

  ScanGuard(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
    this.startNanos = nanoTime.getAsLong();
  }

  /** How long the visitor is still refused, in seconds; 0 if it isn't. */
  int refusedSeconds(Visitor visitor) {
    return refusedSeconds(visitor, nowMillis());
  }

  /**
   * Remembers a number. Returns for how many seconds the visitor is refused from now on; 0 if it
   * isn't.
   */
  int asked(Visitor visitor, int typeNumber, long number) {
    long now = nowMillis();
    if (!isTooMany(visitor, typeNumber, number, now)) {
      return 0;
    }
    NonBlockingAttempt.leave(); // a refusal is logged, which can make its thread wait
    return refuse(visitor, now);
  }

  /** Records that a visitor asked for an unknown legacy ID. */
  synchronized void missed(Visitor visitor) {
    long now = nowMillis();
    if (refusedSeconds(visitor, now) == 0 && history(visitor, now).missed(now)) {
      int _ = refuse(visitor, now);
    }
  }

  /** A concurrent request may have got the visitor refused meanwhile. */
  private synchronized boolean isTooMany(
      Visitor visitor, int typeNumber, long number, long nowMillis) {
    return refusedSeconds(visitor, nowMillis) > 0
        || history(visitor, nowMillis).asked(typeNumber, number, nowMillis);
  }

  private synchronized int refusedSeconds(Visitor visitor, long nowMillis) {
    Refusal refusal = refused.get(visitor);
    if (refusal == null) {
      return 0;
    }
    if (refusal.isForgotten(nowMillis)) {
      refused.remove(visitor);
      return 0;
    }
    refusal.seenMillis = nowMillis;
    return (int) Math.max(0, Math.ceilDiv(refusal.untilMillis - nowMillis, 1_000));
  }

  private RequestHistory history(Visitor visitor, long nowMillis) {
    RequestHistory history = watched.computeIfAbsent(visitor, _ -> new RequestHistory(memory));
    Iterator<RequestHistory> oldest = watched.values().iterator();
    for (int looked = 0; looked < LOOKED_AT_MAX && oldest.hasNext(); looked++) {
      RequestHistory next = oldest.next();
      if (next == history || (watched.size() <= VISITORS_MAX && !next.isOver(nowMillis))) {
        break;
      }
      next.clear();
      oldest.remove();
    }
    return history;
  }

  private synchronized int refuse(Visitor visitor, long nowMillis) {
    int refusedSeconds = refusedSeconds(visitor, nowMillis);
    if (refusedSeconds > 0) {
      return refusedSeconds;
    }
    if (!refused.containsKey(visitor) && !hasRoomForRefusal(nowMillis)) {
      return WINDOW_SECONDS;
    }
    RequestHistory history = watched.remove(visitor);
    if (history != null) {
      history.clear();
    }
    Refusal refusal = refused.computeIfAbsent(visitor, _ -> new Refusal());
    refusal.seenMillis = nowMillis;
    refusal.untilMillis = nowMillis + (WINDOW_MILLIS << Math.min(refusal.times, DOUBLINGS_MAX));
    refusal.times++;
    return refusedSeconds(visitor, nowMillis);
  }

  /** Forgets refusals of long ago and, if there are too many, all that are over. */
  private boolean hasRoomForRefusal(long nowMillis) {
    List<Visitor> oldest = refused.keySet().stream().limit(LOOKED_AT_MAX).toList();
    for (Visitor visitor : oldest) {
      Refusal refusal = requireNonNull(refused.get(visitor)); // now the youngest
      if (refusal.isForgotten(nowMillis)
          || (refused.size() >= VISITORS_MAX && refusal.isOver(nowMillis))) {
        refused.remove(visitor);
      }
    }
    return refused.size() < VISITORS_MAX;
  }

  private long nowMillis() {
    return TimeUnit.NANOSECONDS.toMillis(nanoTime.getAsLong() - startNanos);
  }
}
