package dev.coatcheck.migrate.run;

import dev.coatcheck.core.name.WireNamed;

/** What gives new rows their keys once a run is retired. */
public enum NewKeys implements WireNamed {
  /** The application. */
  NONE,
  /** A function beside the table, as the default of the column. */
  FUNCTION
}
