package dev.coatcheck.api.routes.migrations;

import dev.coatcheck.migrate.run.Retirement;
import dev.coatcheck.migrate.run.TableMigration;
import java.util.List;

/** The effects of retiring a run. */
record RetirementView(
    String object,
    String table,
    String newKeys,
    List<String> consequences,
    List<String> statements) {
  /** The allowed values in a request. */
  static final String NEW_KEYS =
      "Send none, if the application brings the keys of new rows, or function, for a function"
          + " beside the table.";

  static RetirementView of(TableMigration run, Retirement.Plan plan) {
    return new RetirementView(
        "retirement",
        TableText.of(run.target().table()),
        plan.newKeys().wireName(),
        plan.consequences(),
        plan.statements());
  }
}
