package dev.coatcheck.app.client;

/** A command got an invalid argument: exit status 2, as for an unknown flag. */
public final class Misused extends CommandFailed {
  private static final long serialVersionUID = 1L;

  public Misused(String message) {
    super(message);
  }
}
