package dev.coatcheck.migrate.source;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Collectors;

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

  /** What changes with other settings, by the names of the API: {@code lock_waits_max 5 to 1}. */
  public String differences(ThrottleSettings next) {
    Map<String, Object> after = next.byName();
    return byName().entrySet().stream()
        .filter(setting -> !setting.getValue().equals(after.get(setting.getKey())))
        .map(
            setting ->
                setting.getKey() + " " + setting.getValue() + " to " + after.get(setting.getKey()))
        .collect(Collectors.joining(", "));
  }

  private Map<String, Object> byName() {
    Map<String, Object> settings = new LinkedHashMap<>();
    settings.put("batch_millis", batchMillis);
    settings.put("rows_per_second_max", rowsPerSecondMax);
    settings.put("wal_megabytes_per_second_max", walMegabytesPerSecondMax);
    settings.put("replica_lag_seconds_max", replicaLagSecondsMax);
    settings.put("slot_megabytes_max", slotMegabytesMax);
    settings.put("lock_waits_max", lockWaitsMax);
    settings.put("long_transaction_seconds_max", longTransactionSecondsMax);
    settings.put("latency_millis_max", latencyMillisMax);
    settings.put("vacuum_seconds_max", vacuumSecondsMax);
    settings.put("archive_failures", archiveFailures);
    return settings;
  }
}
