package dev.coatcheck.core.key;

import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;

/** The result of one attempt to reserve keys. */
public sealed interface KeyReservation {
  /** Positions of one worker: as many as requested, or fewer. */
  record Some(Positions.Run run, int worker) implements KeyReservation {}

  /** No positions now. A wait may help. */
  record Wait(String reason, long retryAfterMillis) implements KeyReservation {}

  /** No positions, and a short wait doesn't help. */
  record Never(String reason, long retryAfterMillis) implements KeyReservation {}

  /**
   * How long a draw waits for its first key before it is refused. A draw that has some of its keys
   * waits longer; otherwise a large draw from long ticks would never be complete.
   */
  long WAIT_NANOS_MAX = 50_000_000L;

  /** The limit for all waits of a draw together. Other draws use part of each tick. */
  long DRAW_NANOS_MAX = 3_000_000_000L;

  /** A fraction of a millisecond, so that a draw doesn't miss the room of a millisecond. */
  long PAUSE_NANOS = 100_000L;

  /**
   * Draws keys run by run. A refusal discards the earlier runs: gaps are harmless, but with a
   * partial draw every caller would need a loop. An interrupted thread waits for nothing.
   */
  static KeyOutcome draw(
      int count, SnowflakeLayout layout, IntFunction<KeyReservation> source, Waiter waiter) {
    if (count == 1 && source.apply(1) instanceof Some one) {
      return new KeyOutcome.Drawn(
          List.of(new Key.Bigint(layout.key(one.run().first(), one.worker()))));
    }
    Key[] keys = new Key[KeyGenerator.checked(count)];
    int done = 0;
    long tickNanos = TimeUnit.MILLISECONDS.toNanos(layout.tickMillis() - 1);
    long idleSince = Long.MIN_VALUE;
    long begun = waiter.nanoTime();
    while (done < count) {
      KeyReservation reserved = source.apply(count - done);
      if (reserved instanceof Some some) {
        Positions.Run run = some.run();
        for (int i = 0; i < run.count(); i++) {
          keys[done++] = new Key.Bigint(layout.key(run.first() + i, some.worker()));
        }
        idleSince = Long.MIN_VALUE;
      } else if (reserved instanceof Wait wait) {
        long now = waiter.nanoTime();
        if (idleSince == Long.MIN_VALUE) {
          idleSince = now;
        } else if (now - idleSince >= WAIT_NANOS_MAX + (done > 0 ? tickNanos : 0)
            || now - begun >= DRAW_NANOS_MAX
            || Thread.currentThread().isInterrupted()) { // no pause lasts then
          return new KeyOutcome.Refused(wait.reason(), wait.retryAfterMillis());
        }
        waiter.pause(PAUSE_NANOS);
      } else if (reserved instanceof Never never) {
        return new KeyOutcome.Refused(never.reason(), never.retryAfterMillis());
      }
    }
    return new KeyOutcome.Drawn(List.of(keys));
  }
}
