package dev.coatcheck.app.boot;

import dev.coatcheck.postgres.sql.DatabaseUnavailable;

/** The gateway can't start. The message is one line: what is wrong and what to do. */
public final class StartFailed extends Exception {
  StartFailed(String message) {
    super(message);
  }

  StartFailed(String message, Throwable cause) {
    super(message, cause);
  }

  StartFailed(Throwable cause) {
    this(
        cause instanceof DatabaseUnavailable
            ? "The database answers too late (%s). See what it is busy with, then start again."
                .formatted(cause.getMessage())
            : String.valueOf(cause.getMessage()),
        cause);
  }

  /** Whether the next try may succeed without any change. */
  boolean mayPass() {
    return getCause() instanceof DatabaseUnavailable;
  }
}
