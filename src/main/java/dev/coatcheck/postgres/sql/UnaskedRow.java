package dev.coatcheck.postgres.sql;

import dev.coatcheck.postgres.connection.SqlState;
import java.util.NoSuchElementException;
import org.jooq.exception.DataAccessException;
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

  /**
   * Whether the connection may have been left in the middle of something: it gave a row that was
   * not asked for, or one that can't be read. What Postgres itself refuses leaves it as it should
   * be.
   */
  static boolean isSuspected(Throwable thrown) {
    return switch (thrown) {
      case DataAccessException failed ->
          !SqlState.isPoolExhausted(failed)
              && !SqlState.isAnswer(failed)
              && !SqlState.isConnectionLost(failed);
      case UnaskedRow _,
          IllegalArgumentException _,
          IndexOutOfBoundsException _,
          NoSuchElementException _,
          ClassCastException _,
          NullPointerException _ ->
          true;
      default -> false;
    };
  }
}
