package dev.coatcheck.api.console.migrations;

import dev.coatcheck.api.console.page.Form;
import dev.coatcheck.api.routes.migrations.ThrottleBody;
import dev.coatcheck.migrate.source.ThrottleSettings;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToIntFunction;
import java.util.function.UnaryOperator;

/** The throttle settings as fields of a form, by the names of the API. */
final class ThrottleFields {
  private static final String ARCHIVE_FAILURES = "archive_failures";

  /** A hidden field, because a box that isn't ticked is not sent. */
  private static final String HAS_BOX = "has_archive_failures";

  private static final List<NumberField> NUMBERS =
      List.of(
          new NumberField(
              "batch_millis",
              "Intended time of a batch, ms",
              ThrottleSettings.BATCH_MILLIS_MIN,
              ThrottleSettings.BATCH_MILLIS_MAX,
              ThrottleSettings::batchMillis),
          limit(
              "rows_per_second_max",
              "Rows a second at most",
              ThrottleSettings.ROWS_PER_SECOND_MAX,
              ThrottleSettings::rowsPerSecondMax),
          limit(
              "wal_megabytes_per_second_max",
              "Wait while the source writes more WAL, MB/s",
              ThrottleSettings.MEGABYTES_MAX,
              ThrottleSettings::walMegabytesPerSecondMax),
          limit(
              "replica_lag_seconds_max",
              "Wait while a replica lags more, s",
              ThrottleSettings.LIMIT_MAX,
              ThrottleSettings::replicaLagSecondsMax),
          limit(
              "slot_megabytes_max",
              "Wait while a replication slot keeps more WAL, MB",
              ThrottleSettings.MEGABYTES_MAX,
              ThrottleSettings::slotMegabytesMax),
          limit(
              "lock_waits_max",
              "Wait while more sessions wait for the table",
              ThrottleSettings.LIMIT_MAX,
              ThrottleSettings::lockWaitsMax),
          limit(
              "long_transaction_seconds_max",
              "Wait while a transaction is older, s",
              ThrottleSettings.LIMIT_MAX,
              ThrottleSettings::longTransactionSecondsMax),
          limit(
              "latency_millis_max",
              "Wait while reading one row takes longer, ms",
              ThrottleSettings.LIMIT_MAX,
              ThrottleSettings::latencyMillisMax),
          limit(
              "vacuum_seconds_max",
              "Wait for a vacuum of the table at most, s",
              ThrottleSettings.LIMIT_MAX,
              ThrottleSettings::vacuumSecondsMax));

  private ThrottleFields() {}

  /** A setting that is a number. */
  record NumberField(
      String name, String label, int least, int most, ToIntFunction<ThrottleSettings> setting) {
    /** As it was sent, or as it is. */
    String value(ActionView view) {
      return view.form()
          .text(name)
          .orElseGet(() -> Integer.toString(setting.applyAsInt(view.run().throttleSettings())));
    }
  }

  private static NumberField limit(
      String name, String label, int most, ToIntFunction<ThrottleSettings> setting) {
    return new NumberField(name, label, 0, most, setting);
  }

  static List<NumberField> numbers() {
    return NUMBERS;
  }

  /** Whether the box is ticked: as it was sent, or as it is. */
  static boolean isTicked(ActionView view) {
    return view.form().isTicked(HAS_BOX)
        ? view.form().isTicked(ARCHIVE_FAILURES)
        : view.run().throttleSettings().archiveFailures();
  }

  /** The change that a form asks for; a field that is empty or missing changes nothing. */
  static UnaryOperator<ThrottleSettings> change(Form form) {
    Map<String, Object> settings = new LinkedHashMap<>();
    for (NumberField field : NUMBERS) {
      form.text(field.name()).ifPresent(text -> settings.put(field.name(), number(text)));
    }
    if (form.isTicked(HAS_BOX)) {
      settings.put(ARCHIVE_FAILURES, form.isTicked(ARCHIVE_FAILURES));
    }
    return ThrottleBody.change(settings);
  }

  /** A text that is no number is refused as the API refuses it. */
  private static Object number(String text) {
    try {
      return Long.valueOf(text);
    } catch (NumberFormatException noNumber) {
      return text;
    }
  }
}
