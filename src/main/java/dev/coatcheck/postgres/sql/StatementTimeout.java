package dev.coatcheck.postgres.sql;

/** A statement took longer than its bound, or was cancelled; its transaction was rolled back. */
public final class StatementTimeout extends DatabaseUnavailable {
  private static final long serialVersionUID = 1L;

  StatementTimeout(String operation, Throwable cause) {
    super(operation, cause);
  }
}
