package dev.coatcheck.migrate.source;

import java.util.Optional;

/**
 * The load of a source, as far as our role may see it.
 *
 * @param replicaLagSeconds of the slowest replica, as the source measures it; unknown for a replica
 *     that has replayed nothing for a while
 * @param replicas the position that the source has written, and the one that the slowest replica
 *     has replayed
 * @param slot the replication slot that keeps the most WAL
 * @param lockWaits sessions that wait for the table
 * @param vacuum whether a vacuum of the table is running
 * @param wraparoundVacuum whether a vacuum against wraparound is running on the table
 * @param archivingFails whether archiving WAL currently fails
 * @param longTransactionSeconds age of the oldest transaction
 * @param latencyMillis time to read one row
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

  record Slot(String name, long bytes) {}
}
