package dev.coatcheck.migrate.source;

import java.util.Optional;

/**
 * How busy a source is, as far as our role may see it.
 *
 * @param replicaLagSeconds of the slowest replica, as the source measures it: it knows nothing of a
 *     replica that has replayed nothing for a while
 * @param replicas what the source has written, and what the slowest replica has replayed
 * @param slot the replication slot that keeps the most WAL
 * @param lockWaits sessions that wait for the table
 * @param vacuum whether one works on the table
 * @param wraparoundVacuum whether one against wraparound works on the table
 * @param archivingFails whether WAL can't be archived now
 * @param longTransactionSeconds age of the oldest transaction
 * @param latencyMillis that reading one row took
 */
record SourceLoad(
    long replicaLagSeconds,
    Optional<Replicas> replicas,
    Optional<Slot> slot,
    long lockWaits,
    boolean vacuum,
    boolean wraparoundVacuum,
    boolean archivingFails,
    long longTransactionSeconds,
    long latencyMillis) {

  /** Positions in the WAL, in bytes. */
  record Replicas(long written, long replayed) {}

  /** A replication slot, and how much WAL is kept for it. */
  record Slot(String name, long bytes) {}
}
