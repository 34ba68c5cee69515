package dev.coatcheck.postgres.embedded;

import org.jspecify.annotations.Nullable;

/** The embedded Postgres can't run. The message is one line for the user's terminal. */
public final class EmbeddedDatabaseFailed extends Exception {
  EmbeddedDatabaseFailed(String message) {
    this(message, null);
  }

  EmbeddedDatabaseFailed(String message, @Nullable Throwable cause) {
    super(message.replaceAll("\\s*\\R\\s*", " ").strip(), cause);
  }
}
