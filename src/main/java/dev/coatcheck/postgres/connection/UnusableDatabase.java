package dev.coatcheck.postgres.connection;

import org.jspecify.annotations.Nullable;

/** The database can't run or can't serve us. The message is one line for the operator. */
public final class UnusableDatabase extends Exception {
  public UnusableDatabase(String message) {
    this(message, null);
  }

  public UnusableDatabase(String message, @Nullable Throwable cause) {
    super(message.replaceAll("\\s*\\R\\s*", " ").strip(), cause);
  }
}
