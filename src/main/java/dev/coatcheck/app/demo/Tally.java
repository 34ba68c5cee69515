package dev.coatcheck.app.demo;

import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** How often something was tried, and how often it went wrong. */
final class Tally {
  private final AtomicLong right = new AtomicLong();
  private final AtomicLong wrong = new AtomicLong();
  private final AtomicReference<@Nullable String> firstFault = new AtomicReference<>();

  void right() {
    right.incrementAndGet();
  }

  void wrong(String fault) {
    firstFault.compareAndSet(null, fault);
    wrong.incrementAndGet();
  }

  long tried() {
    return right.get() + wrong.get();
  }

  long wrong() {
    return wrong.get();
  }

  Optional<String> firstFault() {
    return Optional.ofNullable(firstFault.get());
  }
}
