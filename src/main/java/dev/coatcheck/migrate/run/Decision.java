package dev.coatcheck.migrate.run;

import dev.coatcheck.migrate.source.ThrottleSettings;

/** What is decided about a run while its row is locked. */
sealed interface Decision {
  /** The run is written as it is to be, with an event. */
  record Change(TableMigration run, String kind, String detail) implements Decision {}

  /** Nothing is written. */
  record Refuse(ActionOutcome outcome) implements Decision {}

  /** Other throttle settings, in any state. */
  static Decision set(TableMigration run, ThrottleSettings settings) {
    return new Change(run.with(settings), "set", RunRowTable.json(settings));
  }
}
