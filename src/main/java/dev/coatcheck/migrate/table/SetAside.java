package dev.coatcheck.migrate.table;

import dev.coatcheck.core.name.WireNamed;

/**
 * A row that could not be filled, with the key that is kept for it.
 *
 * @param error in the words of Postgres, or ours
 */
public record SetAside(long legacy, long key, Cause cause, String error) {
  /** Why a row was set aside. */
  public enum Cause implements WireNamed {
    /** Another session held it, or something that its triggers want. */
    LOCKED,
    /** The update took longer than it may. */
    SLOW,
    /** A trigger or a check refused the update, or a trigger undid it. */
    REFUSED
  }
}
