package dev.coatcheck.api.console.migrations;

import dev.coatcheck.api.console.page.Form;
import dev.coatcheck.api.exchange.Problem;
import dev.coatcheck.api.exchange.Refusal;
import dev.coatcheck.api.routes.migrations.ThrottleBody;
import dev.coatcheck.core.json.JsonFault;
import dev.coatcheck.core.name.WireNamed;
import dev.coatcheck.migrate.source.ThrottleSettings;
import dev.coatcheck.migrate.source.ThrottleSettings.Limit;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.UnaryOperator;

/** The throttle settings as fields of a form, by the names of the API. */
final class ThrottleFields {
  /** A hidden field, because a box that isn't ticked is not sent. */
  private static final String HAS_BOX = "has_archive_failures";

  private ThrottleFields() {}

  static String label(Limit limit) {
    return switch (limit) {
      case BATCH_MILLIS -> "Intended time of a batch, ms";
      case ROWS_PER_SECOND_MAX -> "Rows a second at most";
      case WAL_MEGABYTES_PER_SECOND_MAX -> "Wait while the source writes more WAL, MB/s";
      case REPLICA_LAG_SECONDS_MAX -> "Wait while a replica lags more, s";
      case SLOT_MEGABYTES_MAX -> "Wait while a replication slot keeps more WAL, MB";
      case LOCK_WAITS_MAX -> "Wait while more sessions wait for the table";
      case LONG_TRANSACTION_SECONDS_MAX -> "Wait while a transaction is older, s";
      case LATENCY_MILLIS_MAX -> "Wait while reading one row takes longer, ms";
      case VACUUM_SECONDS_MAX -> "Wait for a vacuum of the table at most, s";
    };
  }

  /** As it was sent, or as it is. */
  static String value(Limit limit, ActionView view) {
    return view.form()
        .text(limit.wireName())
        .orElseGet(() -> Integer.toString(limit.of(view.run().throttleSettings())));
  }

  /** Whether the box is ticked: as it was sent, or as it is. */
  static boolean isTicked(ActionView view) {
    return view.form().isTicked(HAS_BOX)
        ? view.form().isTicked(ThrottleSettings.ARCHIVE_FAILURES)
        : view.run().throttleSettings().archiveFailures();
  }

  /** The change that a form asks for; a field that is empty or missing changes nothing. */
  static UnaryOperator<ThrottleSettings> change(Form form) {
    Map<String, Object> settings = new LinkedHashMap<>();
    for (Limit limit : Limit.values()) {
      form.text(limit.wireName()).ifPresent(text -> settings.put(limit.wireName(), number(text)));
    }
    if (form.isTicked(HAS_BOX)) {
      settings.put(
          ThrottleSettings.ARCHIVE_FAILURES, form.isTicked(ThrottleSettings.ARCHIVE_FAILURES));
    }
    try {
      return ThrottleBody.change(settings);
    } catch (Refusal refused) {
      throw labelled(refused.problem());
    } catch (JsonFault fault) {
      throw labelled(Problem.of(fault));
    }
  }

  /** The same with the label of the field, which people know instead of its name. */
  private static Refusal labelled(Problem problem) {
    return new Refusal(
        problem.labelled(
            param -> WireNamed.find(Limit.class, param).map(ThrottleFields::label).orElse(null)));
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
