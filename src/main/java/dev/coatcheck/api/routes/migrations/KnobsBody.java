package dev.coatcheck.api.routes.migrations;

import dev.coatcheck.api.server.JsonObject;
import dev.coatcheck.api.server.Problem;
import dev.coatcheck.api.server.ProblemCode;
import dev.coatcheck.api.server.Refusal;
import dev.coatcheck.migrate.throttle.Knobs;
import java.util.OptionalLong;
import java.util.function.UnaryOperator;

/** Knobs as a request turns them: only those that it names. */
final class KnobsBody {
  private KnobsBody() {}

  /**
   * What becomes of the knobs as they are.
   *
   * @throws Refusal if one is no number, or out of its range
   */
  static UnaryOperator<Knobs> change(JsonObject body) {
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
    OptionalLong batch = knob(body, "batch_millis", Knobs.BATCH_MILLIS_MIN, Knobs.BATCH_MILLIS_MAX);
    OptionalLong rate = knob(body, "rows_per_second_max", 0, Knobs.ROWS_PER_SECOND_MAX);
    OptionalLong wal = knob(body, "wal_megabytes_per_second_max", 0, Knobs.MEGABYTES_MAX);
    OptionalLong lag = limit(body, "replica_lag_seconds_max");
    OptionalLong slot = knob(body, "slot_megabytes_max", 0, Knobs.MEGABYTES_MAX);
    OptionalLong waits = limit(body, "lock_waits_max");
    OptionalLong transaction = limit(body, "long_transaction_seconds_max");
    OptionalLong latency = limit(body, "latency_millis_max");
    OptionalLong vacuum = limit(body, "vacuum_seconds_max");
    // Judged now: what the change is applied to is under a lock.
    boolean archives = body.bool("archive_failures", false);
    boolean hasArchives = body.has("archive_failures");
    return now ->
        new Knobs(
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
    return knob(body, name, 0, Knobs.LIMIT_MAX);
  }

  private static OptionalLong knob(JsonObject body, String name, int least, int most) {
    OptionalLong value = body.wholeNumber(name);
    if (value.isPresent() && (value.getAsLong() < least || value.getAsLong() > most)) {
      throw new Refusal(
          Problem.at(
              ProblemCode.KNOB_OUT_OF_RANGE,
              name,
              "This must be an integer from %d to %d%s."
                  .formatted(least, most, least == 0 ? ", where 0 means no limit" : "")));
    }
    return value;
  }

  private static int or(OptionalLong value, int otherwise) {
    return Math.toIntExact(value.orElse(otherwise));
  }
}
