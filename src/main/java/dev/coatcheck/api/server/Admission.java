package dev.coatcheck.api.server;

import java.util.concurrent.Semaphore;

/**
 * How many requests may be under way. Virtual threads have no bound of their own, and a queue in
 * front of the connection pool is unfair: a request without a permit is refused at once.
 */
public final class Admission {
  private final Semaphore permits;

  public Admission(int requestsMax) {
    this.permits = new Semaphore(requestsMax);
  }

  public boolean enter() {
    return permits.tryAcquire();
  }

  public void leave() {
    permits.release();
  }
}
