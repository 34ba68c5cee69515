package dev.coatcheck.http;

import java.util.concurrent.Semaphore;

/**
 * How many requests may be under way. Virtual threads have no bound of their own, and a queue in
 * front of the connection pool is unfair: whoever finds no place is refused at once.
 */
final class Admission {
  private final Semaphore places;

  Admission(int requestsMax) {
    this.places = new Semaphore(requestsMax);
  }

  boolean enter() {
    return places.tryAcquire();
  }

  void leave() {
    places.release();
  }
}
