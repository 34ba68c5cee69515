package dev.coatcheck.postgres.sql;

/** A statement took longer than its bound, or was cancelled; its transaction was rolled back. */
public final class StatementTimeout extends DatabaseUnavailable {
  StatementTimeout(String operation, Throwable cause) {
    super(operation, cause);
  }
}
