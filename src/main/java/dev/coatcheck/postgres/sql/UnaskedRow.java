package dev.coatcheck.postgres.sql;

import org.jspecify.annotations.Nullable;

/**
 * A row that was not asked for, or too few or too many of them: the connection answers another
 * question, because it was left in the middle of one. What it says is nobody's answer, least of all
 * that something is not there.
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
