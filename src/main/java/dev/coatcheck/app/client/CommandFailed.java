package dev.coatcheck.app.client;

/** A command can't do what it was asked to do. The message is for the terminal. */
public class CommandFailed extends Exception {
  private static final long serialVersionUID = 1L;

  public CommandFailed(String message) {
    super(message);
  }
}
