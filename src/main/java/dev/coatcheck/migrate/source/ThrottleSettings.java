package dev.coatcheck.migrate.source;

import dev.coatcheck.core.name.WireNamed;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.ToIntFunction;
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
  public static final String ARCHIVE_FAILURES = "archive_failures";

  public static final ThrottleSettings DEFAULT =
      new ThrottleSettings(500, 0, 0, 10, 10_240, 5, 600, 250, 600, true);

  /** A setting that is a number, and its range. */
  public enum Limit implements WireNamed {
    BATCH_MILLIS(20, 10_000),
    ROWS_PER_SECOND_MAX(0, 1_000_000),
    WAL_MEGABYTES_PER_SECOND_MAX(0, 10_000_000),
    REPLICA_LAG_SECONDS_MAX(0, 86_400),
    SLOT_MEGABYTES_MAX(0, 10_000_000),
    LOCK_WAITS_MAX(0, 86_400),
    LONG_TRANSACTION_SECONDS_MAX(0, 86_400),
    LATENCY_MILLIS_MAX(0, 86_400),
    VACUUM_SECONDS_MAX(0, 86_400);

    private final int least;
    private final int most;

    Limit(int least, int most) {
      this.least = least;
      this.most = most;
    }

    public int least() {
      return least;
    }

    public int most() {
      return most;
    }

    public int of(ThrottleSettings settings) {
      return switch (this) {
        case BATCH_MILLIS -> settings.batchMillis();
        case ROWS_PER_SECOND_MAX -> settings.rowsPerSecondMax();
        case WAL_MEGABYTES_PER_SECOND_MAX -> settings.walMegabytesPerSecondMax();
        case REPLICA_LAG_SECONDS_MAX -> settings.replicaLagSecondsMax();
        case SLOT_MEGABYTES_MAX -> settings.slotMegabytesMax();
        case LOCK_WAITS_MAX -> settings.lockWaitsMax();
        case LONG_TRANSACTION_SECONDS_MAX -> settings.longTransactionSecondsMax();
        case LATENCY_MILLIS_MAX -> settings.latencyMillisMax();
        case VACUUM_SECONDS_MAX -> settings.vacuumSecondsMax();
      };
    }
  }

  /** With the limits of a map, and all others as they are. */
  public ThrottleSettings with(Map<Limit, Integer> changed, Optional<Boolean> archives) {
    ToIntFunction<Limit> next = limit -> changed.getOrDefault(limit, limit.of(this));
    return new ThrottleSettings(
        next.applyAsInt(Limit.BATCH_MILLIS),
        next.applyAsInt(Limit.ROWS_PER_SECOND_MAX),
        next.applyAsInt(Limit.WAL_MEGABYTES_PER_SECOND_MAX),
        next.applyAsInt(Limit.REPLICA_LAG_SECONDS_MAX),
        next.applyAsInt(Limit.SLOT_MEGABYTES_MAX),
        next.applyAsInt(Limit.LOCK_WAITS_MAX),
        next.applyAsInt(Limit.LONG_TRANSACTION_SECONDS_MAX),
        next.applyAsInt(Limit.LATENCY_MILLIS_MAX),
        next.applyAsInt(Limit.VACUUM_SECONDS_MAX),
        archives.orElse(archiveFailures));
  }

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
    for (Limit limit : Limit.values()) {
      settings.put(limit.wireName(), limit.of(this));
    }
    settings.put(ARCHIVE_FAILURES, archiveFailures);
    return settings;
  }
}
