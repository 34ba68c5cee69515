package dev.coatcheck.core.key;

import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;

/** The result of one attempt to reserve keys. */
public sealed interface KeyRun {
  /** Positions of one worker, as many as asked for or fewer. */
  record Some(Positions.Run run, int worker) implements KeyRun {}

  /** Nothing at the moment; worth waiting for. */
  record Wait(String reason, long retryAfterMillis) implements KeyRun {}

  /** Nothing, and a short wait won't change that. */
  record Never(String reason, long retryAfterMillis) implements KeyRun {}

  /**
   * How long a draw goes without a single key before it is refused. A draw that has some of its
   * keys waits for the next tick too, or a large draw of long ticks would never be complete.
   */
  long WAIT_NANOS_MAX = 50_000_000L;

  /** For all waits of a draw together: other draws take their share of each tick. */
  long DRAW_NANOS_MAX = 3_000_000_000L;

  /** A fraction of a millisecond, so that no millisecond's room is slept through. */
  long PAUSE_NANOS = 100_000L;

  /**
   * Draws keys run by run. A refusal drops the runs before it: gaps cost nothing, half a draw would
   * cost every caller a loop.
   */
  static KeyDraw draw(
      int count, SnowflakeLayout layout, IntFunction<KeyRun> source, Waiter waiter) {
    if (count == 1 && source.apply(1) instanceof Some(Positions.Run(long first, int _), int by)) {
      return new KeyDraw.Drawn(List.of(new Key.Bigint(layout.key(first, by))));
    }
    Key[] keys = new Key[KeyGenerator.checked(count)];
    int done = 0;
    long tickNanos = TimeUnit.MILLISECONDS.toNanos(layout.tickMillis() - 1);
    long idleSince = Long.MIN_VALUE;
    long begun = waiter.nanoTime();
    while (done < count) {
      switch (source.apply(count - done)) {
        case Some(Positions.Run(long first, int taken), int worker) -> {
          for (int i = 0; i < taken; i++) {
            keys[done++] = new Key.Bigint(layout.key(first + i, worker));
          }
          idleSince = Long.MIN_VALUE;
        }
        case Wait(String reason, long retryAfterMillis) -> {
          long now = waiter.nanoTime();
          if (idleSince == Long.MIN_VALUE) {
            idleSince = now;
          } else if (now - idleSince >= WAIT_NANOS_MAX + (done > 0 ? tickNanos : 0)
              || now - begun >= DRAW_NANOS_MAX) {
            return new KeyDraw.Refused(reason, retryAfterMillis);
          }
          waiter.pause(PAUSE_NANOS);
        }
        case Never(String reason, long retryAfterMillis) -> {
          return new KeyDraw.Refused(reason, retryAfterMillis);
        }
      }
    }
    return new KeyDraw.Drawn(List.of(keys));
  }
}
