package dev.coatcheck.core.key;

import java.util.concurrent.locks.LockSupport;

/** A clock that never steps back, and waits on it. A simulation brings its own. */
public interface Waiter {
  /** The thread's own waiting. */
  Waiter PARKING =
      new Waiter() {
        @Override
        public long nanoTime() {
          return System.nanoTime();
        }

        @Override
        public void pause(long nanos) {
          LockSupport.parkNanos(nanos);
        }
      };

  /** Nanoseconds since some fixed moment; never the wall clock. */
  long nanoTime();

  /** Waits about that long; returning early is allowed. */
  void pause(long nanos);
}
