package dev.coatcheck.migrate.run;

import dev.coatcheck.core.name.WireNamed;

/** What a run works towards. */
public enum Goal implements WireNamed {
  /** Through all phases up to the switch. */
  FORWARD,
  /** Through the switch: the new keys become the primary key. */
  SWITCH,
  /** Through the last phase: the legacy IDs leave the table. */
  CONTRACT,
  /** One verification, and then back to where it was. */
  VERIFY,
  /** Back, phase by phase. */
  UNDO
}
