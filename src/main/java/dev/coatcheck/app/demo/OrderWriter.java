package dev.coatcheck.app.demo;

import dev.coatcheck.app.demo.ShopStore.Release;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.random.RandomGenerator;

/** The application of the shop: takes, changes and deletes orders, and never stops. */
final class OrderWriter {
  /** Orders of its own that are kept for later changes; the oldest are deleted. */
  private static final int OWN_MAX = 200;

  private final ShopStore store;
  private final ShopSize size;
  private final RandomGenerator random = RandomGenerator.getDefault();
  private final Deque<Long> own = new ArrayDeque<>();
  private final Tally writes = new Tally();
  private volatile Release release = Release.OLD_KEYS;
  private Release running = Release.OLD_KEYS;

  OrderWriter(ShopStore store, ShopSize size) {
    this.store = store;
    this.size = size;
  }

  /** From the next write on it knows orders by their new keys. */
  void rollOut() {
    release = Release.NEW_KEYS;
  }

  Tally writes() {
    return writes;
  }

  void write() {
    if (running != release) {
      running = release;
      own.clear();
    }
    try {
      if (isDone()) {
        writes.right();
      } else {
        writes.wrong("an order of the shop's own is gone");
      }
    } catch (ShopFailed failed) {
      writes.wrong("a write failed: " + failed.getMessage());
    }
  }

  private boolean isDone() throws ShopFailed {
    if (own.size() > OWN_MAX) {
      return store.delete(running, own.remove());
    }
    if (!own.isEmpty() && random.nextInt(3) == 0) {
      return store.pay(running, own.getLast());
    }
    if (running == Release.OLD_KEYS && random.nextInt(2) == 0) {
      return store.pay(running, 1 + random.nextLong(size.orders()));
    }
    own.add(store.insert(running, 1 + random.nextLong(size.customers())));
    return true;
  }
}
