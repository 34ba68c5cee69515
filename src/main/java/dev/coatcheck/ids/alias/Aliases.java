package dev.coatcheck.ids.alias;

import static java.util.Objects.requireNonNull;

import dev.coatcheck.cluster.change.ChangeFeed;
import dev.coatcheck.cluster.change.ChangeKind;
import dev.coatcheck.cluster.change.TrustedCache;
import dev.coatcheck.core.id.Token;
import dev.coatcheck.ids.registry.Type;
import dev.coatcheck.postgres.group.Coalescer;
import dev.coatcheck.postgres.sql.Database;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Reads and adds aliases. An alias belongs to one public ID for ever, so no change ends what is
 * cached of it, except that a database which lost the alias may give it again: what is cached is
 * trusted as far as the change feed is.
 */
public final class Aliases {
  private static final int GROUP_NAMES_MAX = 200;

  private final Database database;
  private final Coalescer<Alias, Optional<Token>> together;
  private final TrustedCache<Alias, Token> cache;

  /** The outcome of {@link #add}. */
  public enum Outcome {
    ADDED,
    /** The public ID had this alias before. */
    PRESENT,
    /** Another public ID has this alias; it may have ended. */
    TAKEN
  }

  /**
   * Single look-ups share up to {@code groupsMax} statements at a time.
   *
   * @param cachedMax how many aliases stay in memory, about 320 bytes each
   */
  public Aliases(Database database, ChangeFeed feed, int cachedMax, int groupsMax) {
    this.database = database;
    this.together = new Coalescer<>("alias", groupsMax, GROUP_NAMES_MAX, this::readInOrder);
    this.cache = new TrustedCache<>(feed, ChangeKind.ENDING, (_, _) -> List.of(), cachedMax);
  }

  /**
   * Gives a public ID an alias of its type.
   *
   * @throws dev.coatcheck.postgres.sql.DatabaseUnavailable if the outcome is unknown; sending it
   *     again settles it
   */
  public Outcome add(Token token, Alias alias) {
    int added =
        database.write("alias", sql -> AliasTable.insert(sql, List.of(alias), List.of(token)));
    if (added == 1) {
      return Outcome.ADDED;
    }
    return together.call(alias).filter(token::equals).isPresent() ? Outcome.PRESENT : Outcome.TAKEN;
  }

  /**
   * The token of the public ID of the type that has the alias.
   *
   * @throws dev.coatcheck.postgres.sql.DatabaseUnavailable if it isn't cached and Postgres can't be
   *     asked
   */
  public Optional<Token> target(Type type, Alias alias) {
    return cache.get(alias, type.outage().staleMax(), () -> together.call(alias));
  }

  /**
   * The tokens of those aliases, each of its type, that are taken.
   *
   * @throws dev.coatcheck.postgres.sql.DatabaseUnavailable if one isn't cached and Postgres can't
   *     be asked
   */
  public Map<Alias, Token> targets(Map<Alias, Type> aliases) {
    return cache.getAll(
        List.copyOf(aliases.keySet()),
        alias -> requireNonNull(aliases.get(alias)).outage().staleMax(),
        this::load);
  }

  /** Mostly it is one, for which callers share a statement. */
  private Map<Alias, Token> load(List<Alias> missing) {
    if (missing.size() > 1) {
      return read(missing);
    }
    Alias only = missing.getFirst();
    return together.call(only).map(token -> Map.of(only, token)).orElseGet(Map::of);
  }

  private List<Optional<Token>> readInOrder(List<Alias> aliases) {
    Map<Alias, Token> found = read(aliases);
    return aliases.stream().map(alias -> Optional.ofNullable(found.get(alias))).toList();
  }

  private Map<Alias, Token> read(List<Alias> aliases) {
    return database.read("alias", sql -> AliasTable.targets(sql, aliases));
  }
}
