package dev.coatcheck.postgres.connection;

import org.jspecify.annotations.Nullable;

/**
 * A connection answered another statement than the last one: it was left in the middle of a
 * statement before. Nothing may be concluded from such an answer, least of all that a row is
 * missing. {@code Database} closes the connection and runs the work once more on another one.
 */
public final class ConnectionDesync extends RuntimeException {
  private ConnectionDesync(String what, @Nullable Throwable cause) {
    super(what, cause, false, false);
  }

  /** For an answer that could not be read as that of its statement. */
  ConnectionDesync(Exception unreadable) {
    this(unreadable.toString(), unreadable);
  }

  /**
   * Throws unless the rows are those that were asked for.
   *
   * @param what for the log
   */
  public static void unless(boolean asked, String what) {
    if (!asked) {
      throw new ConnectionDesync(what, null);
    }
  }

  /**
   * A value that must exist because of a row that was read before.
   *
   * @param what for the log
   */
  public static <T> T required(@Nullable T value, String what) {
    if (value == null) {
      throw new ConnectionDesync(what, null);
    }
    return value;
  }
}
