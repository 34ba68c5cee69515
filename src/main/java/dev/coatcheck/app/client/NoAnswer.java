package dev.coatcheck.app.client;

/**
 * The gateway didn't answer, or answered 429 or 503: the call may or may not have been carried out.
 */
public final class NoAnswer extends CommandFailed {
  private static final long serialVersionUID = 1L;

  NoAnswer(String message) {
    super(message);
  }
}
