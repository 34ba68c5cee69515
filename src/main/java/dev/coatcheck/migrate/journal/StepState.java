package dev.coatcheck.migrate.journal;

import java.util.Locale;

/** The state of a step. */
public enum StepState {
  PENDING,
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

  public boolean isApplied() {
    return this == VERIFIED;
  }

  /** Whether something of it may be in the source. */
  public boolean isBegun() {
    return this != PENDING && this != UNDONE;
  }
}
