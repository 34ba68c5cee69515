package dev.coatcheck.ids.alias;

import dev.coatcheck.core.id.Token;
import dev.coatcheck.postgres.sql.Database;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Reads and adds aliases. An alias belongs to one public ID for ever. */
public final class Aliases {
  private final AliasStore store;

  /** The outcome of {@link #add}. */
  public enum Outcome {
    ADDED,
    /** The public ID had this alias before. */
    PRESENT,
    /** Another public ID has this alias; it may have ended. */
    TAKEN
  }

  /** Single look-ups share up to {@code groupsMax} statements at a time. */
  public Aliases(Database database, int groupsMax) {
    this.store = new AliasStore(database, groupsMax);
  }

  /**
   * Gives a public ID an alias of its type.
   *
   * @throws dev.coatcheck.postgres.sql.DatabaseUnavailable if the outcome is unknown; sending it
   *     again settles it
   */
  public Outcome add(Token token, Alias alias) {
    if (store.add(alias, token)) {
      return Outcome.ADDED;
    }
    return target(alias).filter(token::equals).isPresent() ? Outcome.PRESENT : Outcome.TAKEN;
  }

  /** The token of the public ID that has the alias. */
  public Optional<Token> target(Alias alias) {
    return store.target(alias);
  }

  /** The tokens of those aliases that are taken. */
  public Map<Alias, Token> targets(List<Alias> aliases) {
    return store.targets(aliases);
  }
}
