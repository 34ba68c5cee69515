package dev.coatcheck.migrate.table;

import dev.coatcheck.core.name.WireNamed;

/** A part of a table migration. A run passes through the phases in this order. */
public enum Phase implements WireNamed {
  /** The new column, its number source and its triggers. */
  EXPAND,
  /** Old rows get their keys. */
  BACKFILL,
  /** A unique index on the new keys. */
  INDEX,
  /** Every row has a key, and always will. */
  NOT_NULL,
  /** Each column that refers to the legacy IDs gets a twin that refers to the new keys. */
  CHILDREN,
  /** The source, the mappings and the legacy IDs are compared. */
  VERIFY,
  /** The index for the foreign keys of the legacy IDs once the primary key moves. */
  PREPARE_SWITCH,
  /** The new keys are the primary key. */
  SWITCH,
  /**
   * The column of the legacy IDs is dropped from the table, and the columns that refer to it from
   * theirs.
   */
  CONTRACT;

  /** Whether a run enters this phase without a request. */
  public boolean isUsual() {
    return compareTo(VERIFY) <= 0;
  }

  /** Whether it depends on the foreign keys to the table. */
  public boolean bindsChildren() {
    return compareTo(CHILDREN) >= 0 && this != VERIFY;
  }

  /** Whether the phase changes anything that could be undone. */
  public boolean leavesTraces() {
    return this != VERIFY;
  }
}
