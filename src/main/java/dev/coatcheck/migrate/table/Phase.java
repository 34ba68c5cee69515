package dev.coatcheck.migrate.table;

import dev.coatcheck.core.name.WireNamed;

/** A part of a table migration. A run goes through the phases in this order. */
public enum Phase implements WireNamed {
  /** The new column, its number source and its triggers. */
  EXPAND,
  /** Old rows get their keys. */
  BACKFILL,
  /** A unique index on the new keys. */
  INDEX,
  /** No row without a key, ever again. */
  NOT_NULL,
  /** Each column that refers to the legacy IDs gets a twin that refers to the new keys. */
  CHILDREN,
  /** Source, mappings and legacy IDs agree. */
  VERIFY,
  /** The index to which the foreign keys of the legacy IDs are bound once the primary key moves. */
  PREPARE_SWITCH,
  /** The new keys are the primary key. */
  SWITCH,
  /**
   * The column of the legacy IDs leaves the table, and the columns that refer to it their tables.
   */
  CONTRACT;

  /** Whether a run goes through this phase without having been told to. */
  public boolean isUsual() {
    return compareTo(VERIFY) <= 0;
  }

  /** Whether it depends on which foreign keys refer to the table. */
  public boolean bindsChildren() {
    return compareTo(CHILDREN) >= 0 && this != VERIFY;
  }

  /** Whether there is anything of it that could be undone. */
  public boolean leavesTraces() {
    return this != VERIFY;
  }
}
