package dev.coatcheck.app.boot;

/**
 * How much an instance asks of Postgres at a time. The size of the pool decides, and the groups
 * have shares of it: groups without a connection would only wait in line, where they can't grow.
 *
 * @param connections in the pool of requests
 * @param resolveGroups statements that read uncached public IDs, in each of the two tables
 * @param mintGroups transactions of single mints
 */
public record Concurrency(int connections, int resolveGroups, int mintGroups) {

  /** The groups of a pool: 3 and 4 of ten connections, at least one. */
  static Concurrency of(int connections) {
    return new Concurrency(
        connections, Math.max(1, connections * 3 / 10), Math.max(1, connections * 4 / 10));
  }
}
