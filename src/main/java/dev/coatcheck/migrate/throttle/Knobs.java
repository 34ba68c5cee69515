package dev.coatcheck.migrate.throttle;

/**
 * What can be turned while a run is under way. 0 switches a limit off.
 *
 * @param batchMillis how long a batch should take
 * @param rowsPerSecondMax of the backfill
 * @param replicaLagSecondsMax it waits while a replica is further behind
 * @param lockWaitsMax it waits while more sessions wait for the table
 * @param longTransactionSecondsMax it waits while a transaction is older
 * @param latencyMillisMax it waits while reading one row of the table takes longer
 * @param archiveFailures whether it waits while WAL can't be archived
 */
public record Knobs(
    int batchMillis,
    int rowsPerSecondMax,
    int replicaLagSecondsMax,
    int lockWaitsMax,
    int longTransactionSecondsMax,
    int latencyMillisMax,
    boolean archiveFailures) {
  public static final int BATCH_MILLIS_MIN = 20;
  public static final int BATCH_MILLIS_MAX = 10_000;
  public static final int ROWS_PER_SECOND_MAX = 1_000_000;
  public static final int LIMIT_MAX = 86_400;

  public static final Knobs DEFAULT = new Knobs(500, 0, 10, 5, 600, 250, true);
}
