package dev.coatcheck.app.boot;

/**
 * How many connections to Postgres an instance uses at a time. The groups get shares of the pool: a
 * group without a connection would only wait, and could not grow meanwhile.
 *
 * @param connections in the pool of requests
 * @param resolveGroups statements that read uncached public IDs, in each of the two tables
 * @param mintGroups transactions of single mints
 */
public record Concurrency(int connections, int resolveGroups, int mintGroups) {

  /** Of each ten connections 3 are for resolve groups and 4 for mint groups; at least one each. */
  static Concurrency of(int connections) {
    return new Concurrency(
        connections, Math.max(1, connections * 3 / 10), Math.max(1, connections * 4 / 10));
  }
}
