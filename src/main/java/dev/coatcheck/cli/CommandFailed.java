package dev.coatcheck.cli;

/** A command can't do what it was asked. The message is for the terminal. */
class CommandFailed extends Exception {
  private static final long serialVersionUID = 1L;

  CommandFailed(String message) {
    super(message);
  }
}
