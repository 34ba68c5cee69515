package dev.coatcheck.migrate.source;

/** Another runner has taken the table over; what this one was doing was rolled back. */
public final class FenceLost extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public FenceLost() {
    super("another runner has taken over");
  }
}
