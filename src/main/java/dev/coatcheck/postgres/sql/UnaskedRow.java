package dev.coatcheck.postgres.sql;

import dev.coatcheck.postgres.connection.Connections;
import dev.coatcheck.postgres.connection.SqlState;
import java.sql.SQLException;
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

  private UnaskedRow(String what, @Nullable Throwable cause) {
    super(what, cause, false, false);
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

  /**
   * What a failure is: a bug of ours, an outage, or the answer to another statement. Any of them
   * may show as a row that can't be read.
   *
   * @throws SQLException for an outage
   */
  static RuntimeException judged(Connections.Lent lent, RuntimeException thrown)
      throws SQLException {
    // A session keeps the settings of its user, and its standby, for as long as it lasts.
    if (thrown instanceof UnaskedRow || SqlState.isReadOnly(thrown)) {
      lent.evict();
      return thrown;
    }
    if (!isReading(thrown)) {
      return thrown;
    }
    return switch (lent.condition()) {
      case IN_STEP -> thrown;
      case OUT_OF_STEP -> {
        lent.evict();
        yield new UnaskedRow(thrown.toString(), thrown);
      }
      case GONE ->
          throw new SQLException("the connection is gone", SqlState.CONNECTION_FAILURE, thrown);
    };
  }

  /** What Postgres itself refuses, and what the work decides, leaves no doubt. */
  private static boolean isReading(RuntimeException thrown) {
    return switch (thrown) {
      case DataAccessException failed ->
          !SqlState.isPoolExhausted(failed)
              && !SqlState.isAnswer(failed)
              && !SqlState.isConnectionLost(failed);
      case IllegalArgumentException _,
          IndexOutOfBoundsException _,
          NoSuchElementException _,
          ClassCastException _,
          NullPointerException _ ->
          true;
      default -> false;
    };
  }
}
