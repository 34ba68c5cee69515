package dev.coatcheck.api.server;

import java.util.concurrent.Semaphore;

/**
 * How many requests may be under way. Virtual threads have no bound of their own, and a queue in
 * front of the connection pool is unfair: whoever finds no place is refused at once.
 */
public final class Admission {
  private final Semaphore places;

  public Admission(int requestsMax) {
    this.places = new Semaphore(requestsMax);
  }

  public boolean enter() {
    return places.tryAcquire();
  }

  public void leave() {
    places.release();
  }
}
