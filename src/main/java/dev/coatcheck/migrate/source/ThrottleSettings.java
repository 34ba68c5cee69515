package dev.coatcheck.migrate.source;

/**
 * Limits that can be changed during a run; 0 switches a limit off. A megabyte is 2^20 bytes, as in
 * the settings of Postgres.
 *
 * @param batchMillis the intended time of a batch
 * @param rowsPerSecondMax of the backfill
 * @param walMegabytesPerSecondMax the run waits while the source writes more WAL, from all its work
 * @param replicaLagSecondsMax the run waits while a replica lags more
 * @param slotMegabytesMax the run waits while a replication slot keeps more WAL
 * @param lockWaitsMax the run waits while more sessions wait for the table
 * @param longTransactionSecondsMax the run waits while a transaction is older
 * @param latencyMillisMax the run waits while reading one row of the table takes longer
 * @param vacuumSecondsMax the run waits this long at most for a vacuum of the table
 * @param archiveFailures whether the run waits while archiving WAL fails
 */
public record ThrottleSettings(
    int batchMillis,
    int rowsPerSecondMax,
    int walMegabytesPerSecondMax,
    int replicaLagSecondsMax,
    int slotMegabytesMax,
    int lockWaitsMax,
    int longTransactionSecondsMax,
    int latencyMillisMax,
    int vacuumSecondsMax,
    boolean archiveFailures) {
  public static final int BATCH_MILLIS_MIN = 20;
  public static final int BATCH_MILLIS_MAX = 10_000;
  public static final int ROWS_PER_SECOND_MAX = 1_000_000;
  public static final int MEGABYTES_MAX = 10_000_000;
  public static final int LIMIT_MAX = 86_400;

  public static final ThrottleSettings DEFAULT =
      new ThrottleSettings(500, 0, 0, 10, 10_240, 5, 600, 250, 600, true);
}
