package dev.coatcheck.api.console.access;

import dev.coatcheck.ids.redirect.Visitor;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Limits how often an address tries to sign in with wrong API keys: {@value #WRONG_MAX} times
 * within {@value #WINDOW_SECONDS} s. The {@value #ADDRESSES_MAX} latest addresses are remembered.
 */
final class WrongKeys {
  static final int WRONG_MAX = 10;
  static final int WINDOW_SECONDS = 60;
  private static final int ADDRESSES_MAX = 10_000;

  private final LongSupplier nanoTime;
  private final Map<Visitor, Tries> tries = new LinkedHashMap<>(16, 0.75f, true);

  /** The tries of an address since a time. */
  private record Tries(long sinceNanos, int count) {}

  WrongKeys(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
  }

  /** Counts a try as wrong, before its key is looked up. False if it is one too many. */
  synchronized boolean mayTry(Visitor visitor) {
    long now = nanoTime.getAsLong();
    Tries before = tries.get(visitor);
    Tries counted =
        before == null || now - before.sinceNanos() >= TimeUnit.SECONDS.toNanos(WINDOW_SECONDS)
            ? new Tries(now, 1)
            : new Tries(before.sinceNanos(), before.count() + 1);
    tries.put(visitor, counted);
    if (tries.size() > ADDRESSES_MAX) {
      tries.remove(tries.keySet().iterator().next());
    }
    return counted.count() <= WRONG_MAX;
  }

  /** The key was right. */
  synchronized void forget(Visitor visitor) {
    tries.remove(visitor);
  }
}
