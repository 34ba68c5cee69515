package dev.coatcheck.postgres.sql;

import org.jspecify.annotations.Nullable;

/**
 * An answer with other rows than the statement asked for: the connection was left in the middle of
 * another statement. Nothing may be concluded from such an answer, least of all that a row is
 * missing.
 *
 * <p>Thrown by the work of {@link Database#read} and {@link Database#write}, which then close the
 * connection and ask once more on another one.
 */
public final class UnaskedRow extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private UnaskedRow(String what, @Nullable Throwable cause) {
    super(what, cause, false, false);
  }

  /** A failure on a connection that answers something else than it is asked. */
  static UnaskedRow of(RuntimeException thrown) {
    return new UnaskedRow(thrown.toString(), thrown);
  }

  /**
   * Throws unless the rows are those that were asked for.
   *
   * @param what for the log
   */
  public static void unless(boolean asked, String what) {
    if (!asked) {
      throw new UnaskedRow(what, null);
    }
  }

  /**
   * What there must be, by a row that was read before.
   *
   * @param what for the log
   */
  public static <T> T required(@Nullable T value, String what) {
    if (value == null) {
      throw new UnaskedRow(what, null);
    }
    return value;
  }
}
