package dev.coatcheck.db;

/**
 * Postgres could not be asked, or broke off. What was under way may or may not have been done. The
 * edge answers 503; the next request tries again, so that an outage heals without a restart.
 */
public sealed class DatabaseUnavailable extends RuntimeException permits LockTimeout {
  private static final long serialVersionUID = 1L;

  DatabaseUnavailable(String operation, Throwable cause) {
    super("database unavailable during " + operation, cause);
  }
}
