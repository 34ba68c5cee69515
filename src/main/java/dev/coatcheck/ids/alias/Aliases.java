package dev.coatcheck.ids.alias;

import static java.util.Objects.requireNonNull;

import dev.coatcheck.cluster.audit.Actor;
import dev.coatcheck.cluster.audit.AuditEntry;
import dev.coatcheck.cluster.audit.AuditTable;
import dev.coatcheck.cluster.change.ChangeFeed;
import dev.coatcheck.cluster.change.ChangeKind;
import dev.coatcheck.cluster.change.ChangeTable;
import dev.coatcheck.cluster.change.TrustedCache;
import dev.coatcheck.core.id.PublicId;
import dev.coatcheck.core.id.Token;
import dev.coatcheck.ids.registry.Type;
import dev.coatcheck.postgres.group.Coalescer;
import dev.coatcheck.postgres.sql.Database;
import dev.coatcheck.postgres.sql.DatabaseUnavailable;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Reads, adds and removes aliases. An alias belongs to one public ID until it is removed, which
 * other instances hear of through the change feed: what is cached is trusted as far as the feed is.
 */
public final class Aliases {
  private static final int GROUP_NAMES_MAX = 200;
  private static final int LISTED_MAX = 1_000;
  private static final int ADD_TRIES_MAX = 3;

  private final Database database;
  private final Coalescer<Alias, Optional<AliasTarget>> together;
  private final TrustedCache<Alias, AliasTarget> cache;

  /** The outcome of {@link #add}. */
  public enum Outcome {
    ADDED,
    /** The public ID had this alias before. */
    PRESENT,
    /** Another public ID has this alias; it may have ended. */
    TAKEN,
    /** The public ID with this alias was erased: no other one gets it. */
    ERASED,
    /** The public ID has ended meanwhile. */
    ENDED
  }

  /** The outcome of {@link #remove}. */
  public enum Removal {
    REMOVED,
    /** No public ID has this alias. */
    ABSENT,
    /** Another public ID has this alias, and keeps it. */
    OF_ANOTHER
  }

  /**
   * Aliases of a public ID, in the order of scheme, value and namespace.
   *
   * @param hasMore whether the public ID has more than are listed
   */
  public record Listed(List<Alias> aliases, boolean hasMore) {
    private static final Comparator<Alias> ORDER =
        Comparator.comparing(Alias::scheme)
            .thenComparing(Alias::value)
            .thenComparing(alias -> alias.namespace().stored());

    public Listed {
      aliases = aliases.stream().sorted(ORDER).toList();
    }
  }

  /**
   * Single look-ups share up to {@code groupsMax} statements at a time.
   *
   * @param cachedMax how many aliases stay in memory, about 320 bytes each
   */
  public Aliases(Database database, ChangeFeed feed, int cachedMax, int groupsMax) {
    this.database = database;
    this.together = new Coalescer<>("alias", groupsMax, GROUP_NAMES_MAX, this::readInOrder);
    this.cache =
        new TrustedCache<>(
            feed, ChangeKind.ALIAS, (alias, _) -> List.of(alias.subjectOfChange()), cachedMax);
  }

  /**
   * Gives a public ID an alias of its type. Audited with the scheme, not with the value.
   *
   * @throws DatabaseUnavailable if the outcome is unknown; sending it again settles it
   */
  public Outcome add(Type type, PublicId id, Alias alias, Actor actor) {
    Token token = id.token();
    for (int tried = 1; tried <= ADD_TRIES_MAX; tried++) {
      Optional<Outcome> added =
          database.write(
              "alias",
              sql -> AliasTable.add(sql, type, token, alias, entry(actor, "alias.put", id, alias)));
      if (added.isPresent()) {
        cache.forget(alias); // it may have been another public ID's
        return added.get();
      }
      Optional<AliasTarget> owner = together.call(alias);
      if (owner.isPresent()) {
        return switch (owner.get()) {
          case AliasTarget.Issued(Token its) -> its.equals(token) ? Outcome.PRESENT : Outcome.TAKEN;
          case AliasTarget.Erased _ -> Outcome.ERASED;
        };
      }
      // It was removed between the two statements.
    }
    throw new DatabaseUnavailable("alias");
  }

  /**
   * Takes an alias from its public ID; whether it was there doesn't matter. Other instances hear of
   * it through the change feed.
   *
   * @throws DatabaseUnavailable if the outcome is unknown; sending it again settles it
   */
  public Removal remove(PublicId id, Alias alias, Actor actor) {
    Token token = id.token();
    Removal outcome =
        database.write(
            "alias removal",
            sql -> {
              if (AliasTable.delete(sql, alias, token)) {
                AuditTable.append(sql, List.of(entry(actor, "alias.delete", id, alias)));
                ChangeTable.append(sql, ChangeKind.ALIAS, List.of(alias.subjectOfChange()));
                return Removal.REMOVED;
              }
              return AliasTable.targets(sql, List.of(alias)).get(alias)
                          instanceof AliasTarget.Issued(Token owner)
                      && !owner.equals(token)
                  ? Removal.OF_ANOTHER
                  : Removal.ABSENT;
            });
    cache.forget(alias);
    return outcome;
  }

  private static AuditEntry entry(Actor actor, String action, PublicId id, Alias alias) {
    return AuditEntry.of(
        actor,
        action,
        List.of(id.toString()),
        Map.of("scheme", alias.scheme().wireName(), "namespace", alias.namespace().kind()));
  }

  /**
   * The first thousand aliases of a public ID that are found, which are all of nearly every one.
   *
   * @throws DatabaseUnavailable if Postgres can't be asked
   */
  public Listed of(Type type, Token token) {
    List<Alias> found =
        database.read("aliases", sql -> AliasTable.of(sql, type, token, LISTED_MAX + 1));
    return new Listed(
        found.subList(0, Math.min(found.size(), LISTED_MAX)), found.size() > LISTED_MAX);
  }

  /** Drops an alias from the cache whose public ID has just been erased here. */
  public void forget(Alias alias) {
    cache.forget(alias);
  }

  /**
   * What the alias of the type stands for.
   *
   * @throws DatabaseUnavailable if it isn't cached and Postgres can't be asked
   */
  public Optional<AliasTarget> target(Type type, Alias alias) {
    return cache.get(alias, type.outage().staleMax(), this::load);
  }

  /**
   * What those of the aliases stand for, each of its type, that are taken.
   *
   * @throws DatabaseUnavailable if one isn't cached and Postgres can't be asked
   */
  public Map<Alias, AliasTarget> targets(Map<Alias, Type> aliases) {
    return cache.getAll(
        List.copyOf(aliases.keySet()),
        alias -> requireNonNull(aliases.get(alias)).outage().staleMax(),
        this::load);
  }

  /** Mostly it is one, for which callers share a statement. */
  private Map<Alias, AliasTarget> load(List<Alias> missing) {
    if (missing.size() > 1) {
      return read(missing);
    }
    Alias only = missing.getFirst();
    return together.call(only).map(target -> Map.of(only, target)).orElseGet(Map::of);
  }

  private List<Optional<AliasTarget>> readInOrder(List<Alias> aliases) {
    Map<Alias, AliasTarget> found = read(aliases);
    return aliases.stream().map(alias -> Optional.ofNullable(found.get(alias))).toList();
  }

  private Map<Alias, AliasTarget> read(List<Alias> aliases) {
    return database.read("alias", sql -> AliasTable.targets(sql, aliases));
  }
}
