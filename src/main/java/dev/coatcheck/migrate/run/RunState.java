package dev.coatcheck.migrate.run;

import dev.coatcheck.core.name.WireNamed;

public enum RunState implements WireNamed {
  /** Planned; nothing was done yet. */
  PLANNED,
  /** An instance works on it, or will within seconds. */
  RUNNING,
  /** Paused by a caller, to be resumed. */
  PAUSED,
  /** Stopped by what its reason says, to be tried again. */
  FAILED,
  /** Ended early; what it left on the table can be undone. */
  CANCELLED,
  /** All phases are through. */
  DONE,
  /** The legacy IDs have left the table, for good; their old links go on working. */
  CONTRACTED;

  /** Whether the run has no work left until the next action. */
  public boolean isEnd() {
    return this == DONE || this == CANCELLED || this == CONTRACTED;
  }
}
