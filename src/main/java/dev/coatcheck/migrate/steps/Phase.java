package dev.coatcheck.migrate.steps;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;

/** A part of a table migration. A run goes through the phases in this order. */
public enum Phase {
  /** The new column, its number source and its triggers. */
  EXPAND,
  /** Old rows get their keys. */
  BACKFILL,
  /** A unique index on the new keys. */
  INDEX,
  /** No row without a key, ever again. */
  NOT_NULL,
  /** Source, mappings and legacy IDs agree. */
  VERIFY;

  /** As it stands in requests and answers. */
  public String wireName() {
    return name().toLowerCase(Locale.ROOT);
  }

  public static Optional<Phase> named(String wireName) {
    return Arrays.stream(values()).filter(phase -> phase.wireName().equals(wireName)).findFirst();
  }
}
