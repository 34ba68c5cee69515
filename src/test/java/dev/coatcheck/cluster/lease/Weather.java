package dev.coatcheck.cluster.lease;

import dev.coatcheck.core.key.SnowflakeLayout;
import dev.coatcheck.core.key.WorkerUses;

/**
 * What a simulated run goes through. Probabilities are per event of the network, mean times between
 * faults in milliseconds over all nodes, 0 for never.
 */
record Weather(int nodes, int workers, long delayMillisMax, double loss, Faults faults) {

  record Faults(
      long stopEveryMillis,
      long killEveryMillis,
      long partitionEveryMillis,
      long databaseJumpEveryMillis,
      long failOverEveryMillis) {}

  /** Nothing that a well-run site doesn't see every day; wall clocks may do what they like. */
  static final Weather FAIR = new Weather(5, 60, 75, 0.001, new Faults(0, 0, 0, 0, 0));

  /** Everything at once, and hardly more workers than nodes, so that they change hands. */
  static final Weather FOUL =
      new Weather(5, 9, 400, 0.03, new Faults(4_000, 6_000, 8_000, 0, 25_000));

  /** The database's clock jumps, which leaves workers resting at their marks. */
  static final Weather JUMPY =
      new Weather(
          5,
          WorkerUses.shared(SnowflakeLayout.DEFAULT),
          400,
          0.03,
          new Faults(4_000, 6_000, 8_000, 15_000, 0));

  /** All of it. A failover while the clock is an hour ahead may rest every worker for that hour. */
  static final Weather STORM =
      new Weather(5, 20, 400, 0.03, new Faults(4_000, 6_000, 8_000, 15_000, 25_000));

  /**
   * A lease outlasts its window by seconds, so nobody has another's worker while that window is
   * open, unless the database's clock jumps ahead: then all leases have lapsed at once, and whoever
   * starts takes one of few workers from a holder who goes on. Otherwise it is hardly seen that a
   * library renews what is no longer its own: it closes its window after a suspension of its
   * machine, and drops replies that took longer than a second.
   */
  static final Weather TAKEN =
      new Weather(5, 9, 400, 0.03, new Faults(4_000, 2_000, 8_000, 5_000, 25_000));

  /** One worker more than nodes, which lose theirs by standing still and are never replaced. */
  static final Weather CROWDED = new Weather(5, 6, 400, 0.03, new Faults(4_000, 0, 8_000, 0, 0));

  boolean fair() {
    return faults.stopEveryMillis() == 0;
  }

  /** Whether some worker is always free once the faults have ended. */
  boolean recovers() {
    return faults.databaseJumpEveryMillis() == 0 || faults.failOverEveryMillis() == 0;
  }
}
