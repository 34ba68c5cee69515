package dev.coatcheck.app.boot;

/** The gateway can't start. The message is one line: what is wrong and what to do. */
public final class StartFailed extends Exception {
  StartFailed(String message) {
    super(message);
  }

  StartFailed(String message, Throwable cause) {
    super(message, cause);
  }

  StartFailed(Throwable cause) {
    this(String.valueOf(cause.getMessage()), cause);
  }
}
