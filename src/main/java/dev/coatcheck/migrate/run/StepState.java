package dev.coatcheck.migrate.run;

import java.util.Locale;

/** Where a step is. */
public enum StepState {
  PENDING,
  /** Done, not looked at since. */
  APPLIED,
  /** Done, and seen in the source. */
  VERIFIED,
  UNDONE,
  FAILED;

  public String wireName() {
    return name().toLowerCase(Locale.ROOT);
  }

  static StepState named(String wireName) {
    return valueOf(wireName.toUpperCase(Locale.ROOT));
  }

  boolean isApplied() {
    return this == APPLIED || this == VERIFIED;
  }
}
