package dev.coatcheck.mapping;

/** Gives things further names. A name belongs to one thing for ever. */
public final class Aliases {
  private final AliasStore store;

  Aliases(AliasStore store) {
    this.store = store;
  }

  /**
   * Names a thing that has a public ID.
   *
   * @throws dev.coatcheck.db.DatabaseUnavailable if the outcome is unknown; sending it again
   *     settles it
   */
  public AliasOutcome add(Mapping mapping, AliasScheme scheme, String value) {
    Alias alias = Alias.of(mapping.type(), scheme, value);
    if (store.add(alias, mapping.token())) {
      return new AliasOutcome.Added();
    }
    return store.target(alias).filter(mapping.token()::equals).isPresent()
        ? new AliasOutcome.Present()
        : new AliasOutcome.Taken();
  }
}
