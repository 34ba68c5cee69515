package dev.coatcheck.migrate.steps;

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
  /** Source, mappings and legacy IDs agree. */
  VERIFY
}
