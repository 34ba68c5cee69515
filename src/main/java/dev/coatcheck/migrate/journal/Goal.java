package dev.coatcheck.migrate.journal;

import java.util.Locale;

/** What a running run is on its way to. */
public enum Goal {
  /** Through all phases that are left. */
  FORWARD,
  /** One verification, and then back to where it was. */
  VERIFY,
  /** Back, phase by phase. */
  UNDO;

  public String wireName() {
    return name().toLowerCase(Locale.ROOT);
  }

  static Goal named(String wireName) {
    return valueOf(wireName.toUpperCase(Locale.ROOT));
  }
}
