package dev.coatcheck.tablemigration;

import dev.coatcheck.source.Finding;

/** What the gateway's own rows say against a run. */
final class Refusals {
  static final Finding BUSY =
      new Finding(
          "migration_active",
          "Another table migration of this table or type is on the table. Undo that one first.");
  static final Finding TYPE_KEYS =
      new Finding(
          "type_unsuitable",
          "The type must have Snowflake keys of the default layout. Create one for this table.");

  static final Finding CHANGED =
      new Finding(
          "table_changed", "The table is not the one that was planned. Plan the migration anew.");

  private Refusals() {}
}
