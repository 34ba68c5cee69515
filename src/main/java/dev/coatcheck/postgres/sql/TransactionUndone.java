package dev.coatcheck.postgres.sql;

/**
 * Thrown by the work of a transaction to have it rolled back. It says nothing against the
 * connection, which stays in the pool; after any other exception that is not Postgres's own it is
 * closed.
 */
public abstract class TransactionUndone extends RuntimeException {
  private static final long serialVersionUID = 1L;

  protected TransactionUndone(String why) {
    super(why, null, false, false);
  }
}
