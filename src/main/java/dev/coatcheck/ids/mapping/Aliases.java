package dev.coatcheck.ids.mapping;

/** Gives things further names. A name belongs to one thing for ever. */
public final class Aliases {
  private final AliasStore store;

  /** What became of another name for a thing. */
  public enum Outcome {
    ADDED,
    /** The thing had this name before. */
    PRESENT,
    /** It is the name of another thing, which may have ended. */
    TAKEN
  }

  Aliases(AliasStore store) {
    this.store = store;
  }

  /**
   * Names a thing that has a public ID, by an alias of its type.
   *
   * @throws dev.coatcheck.postgres.sql.DatabaseUnavailable if the outcome is unknown; sending it
   *     again settles it
   */
  public Outcome add(Mapping mapping, Alias alias) {
    if (store.add(alias, mapping.token())) {
      return Outcome.ADDED;
    }
    return store.target(alias).filter(mapping.token()::equals).isPresent()
        ? Outcome.PRESENT
        : Outcome.TAKEN;
  }
}
