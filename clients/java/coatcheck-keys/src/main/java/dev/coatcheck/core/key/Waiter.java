package dev.coatcheck.core.key;

import java.util.concurrent.locks.LockSupport;

/** A clock that never steps back, and a way to wait on it. A simulation has its own. */
public interface Waiter {
  /** Parks the calling thread. */
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

  /** Waits for about that time. It may return early. */
  void pause(long nanos);
}
