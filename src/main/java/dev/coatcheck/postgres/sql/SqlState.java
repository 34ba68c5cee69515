package dev.coatcheck.postgres.sql;

import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import org.jspecify.annotations.Nullable;
import org.postgresql.util.PSQLException;

/** The SQLSTATEs we act on, by name (PostgreSQL documentation, appendix A). */
final class SqlState {
  /** What is reported where the driver gave none. */
  static final String NONE = "none";

  static final String CONNECTION_FAILURE = "08006";

  /** Transaction resolution unknown. */
  static final String OUTCOME_UNKNOWN = "08007";

  private static final String SERIALIZATION_FAILURE = "40001";
  private static final String DEADLOCK_DETECTED = "40P01";

  private static final String LOCK_NOT_AVAILABLE = "55P03";
  private static final String QUERY_CANCELED = "57014";

  private SqlState() {}

  static String of(Throwable thrown) {
    SQLException cause = sqlException(thrown);
    return cause == null || cause.getSQLState() == null ? NONE : cause.getSQLState();
  }

  /** The transaction was rolled back by Postgres and may simply be run again. */
  static boolean isRolledBack(String state) {
    return state.equals(SERIALIZATION_FAILURE) || state.equals(DEADLOCK_DETECTED);
  }

  /**
   * Postgres is not there, went away, or has no room: connection exceptions (08), operator
   * intervention such as a shutdown (57P), insufficient resources (53), a read-only standby
   * (25006), a broken disk (58), no connection in time from the pool, or one that the pool closed
   * because its time was over: the only error without a state.
   */
  static boolean isOutage(Throwable thrown) {
    SQLException cause = sqlException(thrown);
    if (cause == null) {
      return false;
    }
    String state = of(thrown);
    return isPoolExhausted(thrown)
        || cause.getSQLState() == null
        || state.startsWith("08")
        || state.startsWith("57")
        || state.startsWith("53")
        || state.startsWith("58")
        || state.startsWith("40")
        || state.equals("25006")
        || state.equals(LOCK_NOT_AVAILABLE);
  }

  /** Somebody else held a lock for longer than {@code lock_timeout}. */
  static boolean isLockTimeout(Throwable thrown) {
    return of(thrown).equals(LOCK_NOT_AVAILABLE);
  }

  /** A statement was cancelled: by hand, or because of {@code statement_timeout}. */
  static boolean isCancelled(Throwable thrown) {
    return of(thrown).equals(QUERY_CANCELED);
  }

  /** The connection is gone, and another one may do; not that there was none. */
  static boolean isConnectionLost(Throwable thrown) {
    String state = of(thrown);
    return !isPoolExhausted(thrown) && (state.startsWith("08") || state.startsWith("57P"));
  }

  /** No connection was to be had from the pool in time. */
  static boolean isPoolExhausted(Throwable thrown) {
    return sqlException(thrown) instanceof SQLTransientConnectionException;
  }

  /**
   * Whether Postgres itself reported it, as the proper end of a statement. The driver gives
   * SQLSTATEs of its own to what it could not read or did not understand.
   */
  static boolean isAnswer(@Nullable Throwable thrown) {
    for (Throwable cause = thrown; cause != null; cause = cause.getCause()) {
      if (cause instanceof PSQLException reported && reported.getServerErrorMessage() != null) {
        return true;
      }
    }
    return false;
  }

  private static @Nullable SQLException sqlException(Throwable thrown) {
    for (Throwable cause = thrown; cause != null; cause = cause.getCause()) {
      if (cause instanceof SQLException found) {
        return found;
      }
    }
    return null;
  }
}
