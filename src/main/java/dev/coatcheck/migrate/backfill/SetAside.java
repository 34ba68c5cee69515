package dev.coatcheck.migrate.backfill;

import java.util.Locale;

/**
 * A row that could not be filled, with the key that is kept for it.
 *
 * @param error in the words of Postgres, or ours
 */
public record SetAside(long legacy, long key, Cause cause, String error) {
  /** Why a row was set aside. */
  public enum Cause {
    /** Another session held it, or something that its triggers want. */
    LOCKED,
    /** The update took longer than it may. */
    SLOW,
    /** A trigger or a check refused the update, or a trigger undid it. */
    REFUSED;

    /** As it stands in tables and answers. */
    public String wireName() {
      return name().toLowerCase(Locale.ROOT);
    }

    public static Cause named(String wireName) {
      return valueOf(wireName.toUpperCase(Locale.ROOT));
    }
  }
}
