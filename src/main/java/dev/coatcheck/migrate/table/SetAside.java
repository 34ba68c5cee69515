package dev.coatcheck.migrate.table;

import dev.coatcheck.core.name.WireNamed;

/**
 * A row that could not be filled, with its reserved key.
 *
 * @param error the message of Postgres, or ours
 */
public record SetAside(long legacy, long key, Cause cause, String error) {
  public enum Cause implements WireNamed {
    /** Another session held the row, or something that its triggers need. */
    LOCKED,
    /** The update timed out. */
    SLOW,
    /** A trigger or a check refused the update, or a trigger undid it. */
    REFUSED,
    /** The public ID of the row was erased, so the row gets no key. */
    ERASED
  }
}
