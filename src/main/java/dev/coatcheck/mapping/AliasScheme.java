package dev.coatcheck.mapping;

import java.util.Locale;

/** Where another name of a thing comes from. */
public enum AliasScheme {
  /** The auto-increment number that it had before. */
  LEGACY,
  /** A UUID that a client made while it was offline. */
  CLIENT,
  /** The key that it got when its table was migrated. */
  KEY,
  /** A public ID of an older system. */
  PUBLIC;

  /** As it stands in the API and in the database. */
  public String wireName() {
    return name().toLowerCase(Locale.ROOT);
  }
}
