package dev.coatcheck.postgres.sql;

/**
 * Another session held a row or a lock for longer than this transaction waits; it was rolled back.
 */
public final class LockTimeout extends DatabaseUnavailable {
  LockTimeout(String operation, Throwable cause) {
    super(operation, cause);
  }
}
