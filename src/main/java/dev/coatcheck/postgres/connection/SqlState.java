package dev.coatcheck.postgres.connection;

import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.postgresql.util.PSQLException;
import org.postgresql.util.ServerErrorMessage;

/**
 * The SQLSTATEs that the gateway acts on, by name (PostgreSQL documentation, appendix A): no other
 * class knows a code. Two digits are a class of codes.
 */
public final class SqlState {
  /** What is reported where the driver gave none. */
  public static final String NONE = "none";

  public static final String CONNECTION_FAILURE = "08006";

  /** Transaction resolution unknown. */
  public static final String OUTCOME_UNKNOWN = "08007";

  /** Ours, raised by a step of a table migration: a row came in without a key. */
  public static final String ROW_WITHOUT_KEY = "CC001";

  /** Ours, raised by a step of a table migration: what it needs is not as it should be. */
  public static final String STEP_REFUSED = "CC002";

  private static final String CONNECTION_EXCEPTION = "08";
  private static final String TRANSACTION_ROLLBACK = "40";
  private static final String INSUFFICIENT_RESOURCES = "53";
  private static final String OPERATOR_INTERVENTION = "57";
  private static final String SYSTEM_ERROR = "58";

  private static final String READ_ONLY_TRANSACTION = "25006";
  private static final String IDLE_IN_TRANSACTION = "25P03";
  private static final String NO_SUCH_PREPARED_STATEMENT = "26000";
  private static final String DEPENDENT_OBJECTS = "2BP01";
  private static final String UNIQUE_VIOLATION = "23505";
  private static final String CHECK_VIOLATION = "23514";
  private static final String SERIALIZATION_FAILURE = "40001";
  private static final String DEADLOCK_DETECTED = "40P01";
  private static final String INSUFFICIENT_PRIVILEGE = "42501";
  private static final String UNDEFINED_TABLE = "42P01";
  private static final String DUPLICATE_PREPARED_STATEMENT = "42P05";
  private static final String LOCK_NOT_AVAILABLE = "55P03";
  private static final String QUERY_CANCELED = "57014";
  private static final String SHUTDOWN = "57P";

  private static final Pattern OF_SHARD = Pattern.compile("\"\\w+_is_unique_\\d+\"");

  private SqlState() {}

  public static String of(Throwable thrown) {
    SQLException cause = sqlException(thrown);
    return cause == null || cause.getSQLState() == null ? NONE : cause.getSQLState();
  }

  /** The transaction was rolled back by Postgres and may simply be run again. */
  public static boolean isRolledBack(Throwable thrown) {
    return Set.of(SERIALIZATION_FAILURE, DEADLOCK_DETECTED).contains(of(thrown));
  }

  /**
   * Postgres is not there, went away, or has no room: connection exceptions, operator intervention
   * such as a shutdown, a transaction that stood still for too long, insufficient resources, a
   * read-only standby, a broken disk, no connection in time from the pool, or one that the pool
   * closed because its time was over: the only error without a state.
   */
  public static boolean isOutage(Throwable thrown) {
    SQLException cause = sqlException(thrown);
    if (cause == null) {
      return false;
    }
    String state = of(thrown);
    return isPoolExhausted(thrown)
        || cause.getSQLState() == null
        || state.startsWith(CONNECTION_EXCEPTION)
        || state.startsWith(OPERATOR_INTERVENTION)
        || state.startsWith(INSUFFICIENT_RESOURCES)
        || state.startsWith(SYSTEM_ERROR)
        || state.startsWith(TRANSACTION_ROLLBACK)
        || state.equals(READ_ONLY_TRANSACTION)
        || state.equals(IDLE_IN_TRANSACTION)
        || state.equals(LOCK_NOT_AVAILABLE);
  }

  /** Postgres is there, and has no room for another connection. */
  public static boolean hasNoRoom(Throwable thrown) {
    return of(thrown).startsWith(INSUFFICIENT_RESOURCES);
  }

  /** The server has answered that it won't do this, now or later. */
  public static boolean isRefusal(Throwable thrown) {
    return isAnswer(thrown) && !hasNoRoom(thrown) && !of(thrown).startsWith(OPERATOR_INTERVENTION);
  }

  /** Another session held a lock for longer than {@code lock_timeout}. */
  public static boolean isLockTimeout(Throwable thrown) {
    return of(thrown).equals(LOCK_NOT_AVAILABLE);
  }

  /** The transaction may only read: on a standby, by a setting of the user, or on a full disk. */
  public static boolean isReadOnly(Throwable thrown) {
    return of(thrown).equals(READ_ONLY_TRANSACTION);
  }

  /** The role lacks a right. */
  public static boolean isDenied(Throwable thrown) {
    return of(thrown).equals(INSUFFICIENT_PRIVILEGE);
  }

  /** A statement was cancelled: by hand, or because of {@code statement_timeout}. */
  public static boolean isCancelled(Throwable thrown) {
    return of(thrown).equals(QUERY_CANCELED);
  }

  /** The connection is gone, and another one may do; not that there was none. */
  public static boolean isConnectionLost(Throwable thrown) {
    String state = of(thrown);
    return !isPoolExhausted(thrown)
        && (state.startsWith(CONNECTION_EXCEPTION) || state.startsWith(SHUTDOWN));
  }

  /** No connection was to be had from the pool in time. */
  public static boolean isPoolExhausted(Throwable thrown) {
    return sqlException(thrown) instanceof SQLTransientConnectionException;
  }

  /**
   * A row is there already, by any unique constraint. What a node of a Citus cluster says of a COPY
   * comes without its SQLSTATE, so there the name of the constraint tells, with the number of its
   * shard; all of ours end alike.
   */
  public static boolean isUniqueViolation(Throwable thrown) {
    return of(thrown).equals(UNIQUE_VIOLATION)
        || serverError(thrown)
            .filter(error -> OF_SHARD.matcher(String.valueOf(error.getMessage())).find())
            .isPresent();
  }

  /** Postgres refused a row because of this constraint or unique index. */
  public static boolean violates(Throwable thrown, String constraint) {
    return serverError(thrown)
        .map(ServerErrorMessage::getConstraint)
        .filter(constraint::equals)
        .isPresent();
  }

  /** A row of a customer's table has no key where a step needs one. */
  public static boolean isRowWithoutKey(Throwable thrown) {
    return Set.of(CHECK_VIOLATION, ROW_WITHOUT_KEY).contains(of(thrown));
  }

  /** What a step of a table migration needs is not as it should be; nothing was changed. */
  public static boolean isStepRefused(Throwable thrown) {
    return of(thrown).equals(STEP_REFUSED);
  }

  /** The message of the server with its hint; empty if the server sent none. */
  public static Optional<String> words(Throwable thrown) {
    return serverError(thrown)
        .map(
            error ->
                error.getHint() == null
                    ? String.valueOf(error.getMessage())
                    : error.getMessage() + ". " + error.getHint());
  }

  public static boolean isUndefinedTable(Throwable thrown) {
    return of(thrown).equals(UNDEFINED_TABLE);
  }

  /** Something that would stay depends on what was to be dropped. */
  public static boolean isDependedOn(Throwable thrown) {
    return of(thrown).equals(DEPENDENT_OBJECTS);
  }

  /** A pooler went on with another backend: no such statement there, or another of that name. */
  public static boolean isPreparedElsewhere(Throwable thrown) {
    return Set.of(NO_SUCH_PREPARED_STATEMENT, DUPLICATE_PREPARED_STATEMENT).contains(of(thrown));
  }

  /** The message of the server with its details, and without its hint. */
  public static Optional<String> wordsWithoutHint(Throwable thrown) {
    return serverError(thrown)
        .map(
            error ->
                error.getDetail() == null
                    ? String.valueOf(error.getMessage())
                    : error.getMessage() + ": " + error.getDetail().replace("\n", "; "));
  }

  /**
   * Whether Postgres itself reported it, as the proper end of a statement. The driver gives
   * SQLSTATEs of its own to what it could not read or did not understand.
   */
  public static boolean isAnswer(@Nullable Throwable thrown) {
    return thrown != null && serverError(thrown).isPresent();
  }

  private static Optional<ServerErrorMessage> serverError(Throwable thrown) {
    for (Throwable cause = thrown; cause != null; cause = cause.getCause()) {
      if (cause instanceof PSQLException reported && reported.getServerErrorMessage() != null) {
        return Optional.of(reported.getServerErrorMessage());
      }
    }
    return Optional.empty();
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
