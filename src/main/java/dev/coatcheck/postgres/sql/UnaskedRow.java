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

  private UnaskedRow(String what) {
    super(what, null, false, false);
  }

  /**
   * Throws unless the rows are those that were asked for.
   *
   * @param what for the log
   */
  public static void unless(boolean asked, String what) {
    if (!asked) {
      throw new UnaskedRow(what);
    }
  }

  /**
   * What there must be, by a row that was read before.
   *
   * @param what for the log
   */
  public static <T> T required(@Nullable T value, String what) {
    if (value == null) {
      throw new UnaskedRow(what);
    }
    return value;
  }
}
