package dev.coatcheck.key;

import java.util.concurrent.locks.LockSupport;

/** How a generator waits. Production parks the thread; a simulation moves its clock. */
@FunctionalInterface
public interface Pause {
  Pause PARK = LockSupport::parkNanos;

  /** Waits about that long; waking early is allowed. */
  void nanos(long nanos);
}
