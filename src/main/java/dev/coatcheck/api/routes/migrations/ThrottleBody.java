package dev.coatcheck.api.routes.migrations;

import dev.coatcheck.api.exchange.Json;
import dev.coatcheck.api.exchange.ProblemCode;
import dev.coatcheck.api.exchange.Refusal;
import dev.coatcheck.core.json.JsonObject;
import dev.coatcheck.migrate.source.ThrottleSettings;
import java.util.Map;
import java.util.OptionalLong;
import java.util.function.UnaryOperator;

/** Parses a change of throttle settings. A request contains only the settings to change. */
public final class ThrottleBody {
  private ThrottleBody() {}

  /** The change of some settings by their names, each a number or a boolean. */
  public static UnaryOperator<ThrottleSettings> change(Map<String, ?> settings) {
    return change(JsonObject.of(Json.MAPPER.valueToTree(settings)));
  }

  /**
   * The settings after the change.
   *
   * @throws Refusal if a setting is not a number, or out of range
   */
  static UnaryOperator<ThrottleSettings> change(JsonObject body) {
    body.allow(
        "batch_millis",
        "rows_per_second_max",
        "wal_megabytes_per_second_max",
        "replica_lag_seconds_max",
        "slot_megabytes_max",
        "lock_waits_max",
        "long_transaction_seconds_max",
        "latency_millis_max",
        "vacuum_seconds_max",
        "archive_failures");
    OptionalLong batch =
        setting(
            body,
            "batch_millis",
            ThrottleSettings.BATCH_MILLIS_MIN,
            ThrottleSettings.BATCH_MILLIS_MAX);
    OptionalLong rate =
        setting(body, "rows_per_second_max", 0, ThrottleSettings.ROWS_PER_SECOND_MAX);
    OptionalLong wal =
        setting(body, "wal_megabytes_per_second_max", 0, ThrottleSettings.MEGABYTES_MAX);
    OptionalLong lag = limit(body, "replica_lag_seconds_max");
    OptionalLong slot = setting(body, "slot_megabytes_max", 0, ThrottleSettings.MEGABYTES_MAX);
    OptionalLong waits = limit(body, "lock_waits_max");
    OptionalLong transaction = limit(body, "long_transaction_seconds_max");
    OptionalLong latency = limit(body, "latency_millis_max");
    OptionalLong vacuum = limit(body, "vacuum_seconds_max");
    // Parsed here, because the change is applied under a lock.
    boolean archives = body.bool("archive_failures", false);
    boolean hasArchives = body.has("archive_failures");
    return now ->
        new ThrottleSettings(
            or(batch, now.batchMillis()),
            or(rate, now.rowsPerSecondMax()),
            or(wal, now.walMegabytesPerSecondMax()),
            or(lag, now.replicaLagSecondsMax()),
            or(slot, now.slotMegabytesMax()),
            or(waits, now.lockWaitsMax()),
            or(transaction, now.longTransactionSecondsMax()),
            or(latency, now.latencyMillisMax()),
            or(vacuum, now.vacuumSecondsMax()),
            hasArchives ? archives : now.archiveFailures());
  }

  private static OptionalLong limit(JsonObject body, String name) {
    return setting(body, name, 0, ThrottleSettings.LIMIT_MAX);
  }

  private static OptionalLong setting(JsonObject body, String name, int least, int most) {
    OptionalLong value = body.wholeNumber(name);
    if (value.isPresent() && (value.getAsLong() < least || value.getAsLong() > most)) {
      throw new Refusal(
          ProblemCode.THROTTLE_OUT_OF_RANGE,
          name,
          "This must be an integer from %d to %d%s."
              .formatted(least, most, least == 0 ? ", where 0 means no limit" : ""));
    }
    return value;
  }

  private static int or(OptionalLong value, int otherwise) {
    return Math.toIntExact(value.orElse(otherwise));
  }
}
