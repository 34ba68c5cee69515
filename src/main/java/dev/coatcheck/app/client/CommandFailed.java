package dev.coatcheck.app.client;

/** A command failed. The message is for the terminal. */
public class CommandFailed extends Exception {
  private static final long serialVersionUID = 1L;

  public CommandFailed(String message) {
    super(message);
  }
}
