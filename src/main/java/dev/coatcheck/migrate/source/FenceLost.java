package dev.coatcheck.migrate.source;

/** Another runner has taken over this run. The transaction that detected it was rolled back. */
public final class FenceLost extends RuntimeException {
  public FenceLost() {
    super("another runner has taken over");
  }
}
