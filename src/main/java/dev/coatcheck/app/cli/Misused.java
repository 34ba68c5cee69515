package dev.coatcheck.app.cli;

/** A command was given what it can't take: exit status 2, as for an unknown flag. */
final class Misused extends CommandFailed {
  private static final long serialVersionUID = 1L;

  Misused(String message) {
    super(message);
  }
}
