package dev.coatcheck.app.cli.migrate;

import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The throttle settings of a run as options. An option that is left out changes nothing. */
@Command
final class ThrottleFlags {
  @Option(names = "--batch-millis", description = "How long a batch should take, 20 to 10000.")
  private @Nullable Long batchMillis;

  @Option(
      names = "--rows-per-second-max",
      description = "Rows filled in a second, up to 1000000; 0: no limit.")
  private @Nullable Long rowsPerSecondMax;

  @Option(
      names = "--wal-megabytes-per-second-max",
      description = "Wait while the source writes more WAL than this; 0: no limit.")
  private @Nullable Long walMegabytesPerSecondMax;

  @Option(
      names = "--replica-lag-seconds-max",
      description = "Wait while a replica lags more than this.")
  private @Nullable Long replicaLagSecondsMax;

  @Option(
      names = "--slot-megabytes-max",
      description = "Wait while a replication slot keeps more WAL than this.")
  private @Nullable Long slotMegabytesMax;

  @Option(
      names = "--lock-waits-max",
      description = "Wait while more sessions than this wait for the table.")
  private @Nullable Long lockWaitsMax;

  @Option(
      names = "--long-transaction-seconds-max",
      description = "Wait while a transaction is older than this.")
  private @Nullable Long longTransactionSecondsMax;

  @Option(
      names = "--latency-millis-max",
      description = "Wait while the read of a row takes longer than this.")
  private @Nullable Long latencyMillisMax;

  @Option(
      names = "--vacuum-seconds-max",
      description = "Wait for a vacuum of the table, but not longer than this.")
  private @Nullable Long vacuumSecondsMax;

  @Option(
      names = "--archive-failures",
      arity = "1",
      paramLabel = "true|false",
      description = "Whether the run waits while the source can't archive WAL.")
  private @Nullable Boolean archiveFailures;

  Map<String, Object> body() {
    Map<String, Object> body = new LinkedHashMap<>();
    put(body, "batch_millis", batchMillis);
    put(body, "rows_per_second_max", rowsPerSecondMax);
    put(body, "wal_megabytes_per_second_max", walMegabytesPerSecondMax);
    put(body, "replica_lag_seconds_max", replicaLagSecondsMax);
    put(body, "slot_megabytes_max", slotMegabytesMax);
    put(body, "lock_waits_max", lockWaitsMax);
    put(body, "long_transaction_seconds_max", longTransactionSecondsMax);
    put(body, "latency_millis_max", latencyMillisMax);
    put(body, "vacuum_seconds_max", vacuumSecondsMax);
    put(body, "archive_failures", archiveFailures);
    return body;
  }

  private static void put(Map<String, Object> body, String name, @Nullable Object value) {
    if (value != null) {
      body.put(name, value);
    }
  }
}
