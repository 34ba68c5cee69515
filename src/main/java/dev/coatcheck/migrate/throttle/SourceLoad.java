package dev.coatcheck.migrate.throttle;

import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.postgres.sql.Database;

/**
 * How busy a source is, as far as our role may see it.
 *
 * @param replicaLagSeconds of the slowest replica
 * @param lockWaits sessions that wait for the table
 * @param wraparoundVacuum whether one works on the table
 * @param archivingFails whether WAL can't be archived now
 * @param longTransactionSeconds age of the oldest transaction
 * @param latencyMillis that reading one row took
 */
record SourceLoad(
    long replicaLagSeconds,
    long lockWaits,
    boolean wraparoundVacuum,
    boolean archivingFails,
    long longTransactionSeconds,
    long latencyMillis) {

  /**
   * Looks now.
   *
   * @throws dev.coatcheck.postgres.sql.DatabaseUnavailable if the source can't be asked
   */
  static SourceLoad of(Database source, Target target) {
    return new LoadStore(source, target).load();
  }
}
