package dev.coatcheck.migrate.journal;

import dev.coatcheck.core.name.WireNamed;

/** What a running run is on its way to. */
public enum Goal implements WireNamed {
  /** Through all phases that are left. */
  FORWARD,
  /** One verification, and then back to where it was. */
  VERIFY,
  /** Back, phase by phase. */
  UNDO
}
