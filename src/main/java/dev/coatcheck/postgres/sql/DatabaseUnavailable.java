package dev.coatcheck.postgres.sql;

import dev.coatcheck.core.observe.Background;

/**
 * Postgres could not be asked, or broke off. What was under way may or may not have been done. The
 * edge answers 503; the next request tries again, so that an outage heals without a restart.
 */
public sealed class DatabaseUnavailable extends RuntimeException implements Background.Observed
    permits LockTimeout, StatementTimeout {
  private static final long serialVersionUID = 1L;

  /** For work that was given up without an answer. */
  public DatabaseUnavailable(String operation) {
    super("no answer of the database in time for " + operation);
  }

  DatabaseUnavailable(String operation, Throwable cause) {
    super("database unavailable during " + operation, cause);
  }
}
