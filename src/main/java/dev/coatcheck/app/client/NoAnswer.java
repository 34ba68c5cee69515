package dev.coatcheck.app.client;

/** The gateway gave no answer, or 503: the call may have been carried out, or not. */
public final class NoAnswer extends CommandFailed {
  private static final long serialVersionUID = 1L;

  NoAnswer(String message) {
    super(message);
  }
}
