package dev.coatcheck.postgres.connection;

/** The database is there but can't serve us. The message is one line for the operator. */
public final class UnusableDatabase extends Exception {
  private static final long serialVersionUID = 1L;

  public UnusableDatabase(String message) {
    super(message.replaceAll("\\s*\\R\\s*", " ").strip());
  }
}
