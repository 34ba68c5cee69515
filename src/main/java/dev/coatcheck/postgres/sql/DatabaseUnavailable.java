package dev.coatcheck.postgres.sql;

import dev.coatcheck.core.observe.Background;
import dev.coatcheck.core.observe.Event;
import dev.coatcheck.postgres.connection.SqlState;
import java.util.function.Consumer;
import org.jooq.exception.DataAccessException;

/**
 * Postgres could not be asked, or broke off. Whatever asks a database may throw this; methods name
 * it only where more is to be said. What was under way may or may not have been done. The edge
 * answers 503; the next request tries again, so that an outage heals without a restart.
 */
public sealed class DatabaseUnavailable extends RuntimeException implements Background.Observed
    permits LockTimeout, StatementTimeout {
  /** For work that was given up without an answer. */
  public DatabaseUnavailable(String operation) {
    super("no answer of the database in time for " + operation);
  }

  public DatabaseUnavailable(String operation, Throwable cause) {
    super(
        "database unavailable during %s (SQLSTATE %s)".formatted(operation, SqlState.of(cause)),
        cause);
  }

  /**
   * What a failed statement is for its caller: one of these exceptions if Postgres could not be
   * asked or gave up, and then an event; otherwise the failure itself.
   */
  public static RuntimeException of(
      String operation, DataAccessException thrown, Consumer<Event> events) {
    if (!SqlState.isOutage(thrown)) {
      return thrown;
    }
    if (SqlState.isLockTimeout(thrown)) {
      events.accept(new Event.LockTimedOut(operation));
      return new LockTimeout(operation, thrown);
    }
    events.accept(new Event.DatabaseFailed(operation, SqlState.of(thrown), thrown));
    return SqlState.isCancelled(thrown)
        ? new StatementTimeout(operation, thrown)
        : new DatabaseUnavailable(operation, thrown);
  }
}
