package dev.coatcheck.migrate.run;

import dev.coatcheck.core.name.WireNamed;

public enum StepState implements WireNamed {
  PENDING,
  /** Done, and seen in the source. */
  VERIFIED,
  UNDONE,
  FAILED;

  public boolean isApplied() {
    return this == VERIFIED;
  }

  /** Whether something of it may be in the source. */
  public boolean isBegun() {
    return this != PENDING && this != UNDONE;
  }
}
