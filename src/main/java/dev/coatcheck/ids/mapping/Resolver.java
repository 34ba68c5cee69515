package dev.coatcheck.ids.mapping;

import static java.util.Objects.requireNonNull;

import dev.coatcheck.cluster.change.ChangeFeed;
import dev.coatcheck.cluster.change.ChangeKind;
import dev.coatcheck.cluster.change.TrustedCache;
import dev.coatcheck.core.id.Token;
import dev.coatcheck.core.key.KeyKind;
import dev.coatcheck.core.observe.Event;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.ids.access.AllowedTypes;
import dev.coatcheck.ids.alias.Alias;
import dev.coatcheck.ids.alias.AliasTarget;
import dev.coatcheck.ids.alias.Aliases;
import dev.coatcheck.ids.registry.Type;
import dev.coatcheck.postgres.group.Coalescer;
import dev.coatcheck.postgres.sql.Database;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Turns public IDs into keys. Caches hits and misses: a miss is safe to cache, because nobody asks
 * for a random token before it exists. The change feed limits how long a cached state may be
 * trusted. Malformed texts are refused without a query.
 *
 * <p>Each look-up throws {@link dev.coatcheck.postgres.sql.DatabaseUnavailable} if its answer isn't
 * cached and Postgres can't be asked.
 */
public final class Resolver {
  /**
   * The subject of a change that imported public IDs: an ID that was unknown may exist now. Mints
   * need no such change, because nobody asks for a random token before it exists.
   */
  public static final String IMPORTED = "imported";

  private static final int GROUP_TOKENS_MAX = 200;

  private final MappingStore store;
  private final IdParser parser;
  private final Aliases aliases;
  private final Lookup lookup;
  private final Observer observer;
  private final Map<KeyKind, Coalescer<Token, Optional<StoredMapping>>> together =
      new EnumMap<>(KeyKind.class);
  private final TrustedCache<Asked, MappingState> cache;

  /**
   * A token in the table for keys of a kind. Comparable, so that a hash map stays fast even if a
   * client sends many tokens of one hash.
   */
  private record Asked(Token token, KeyKind kind) implements Comparable<Asked> {
    static Asked of(IdText.OfToken wanted) {
      return new Asked(wanted.token(), wanted.type().keyKind());
    }

    @Override
    public int compareTo(Asked other) {
      int order = token.compareTo(other.token);
      return order != 0 ? order : kind.compareTo(other.kind);
    }
  }

  /**
   * Reads from the database.
   *
   * @param feed says how long what was resolved may be trusted
   * @param cachedMax how many resolved public IDs stay in memory, about 320 bytes each
   * @param groupsMax how many statements read single public IDs at a time, in each of the two
   *     tables
   */
  public Resolver(
      Database database,
      IdParser parser,
      Aliases aliases,
      Lookup lookup,
      ChangeFeed feed,
      Observer observer,
      int cachedMax,
      int groupsMax) {
    this.store = new MappingStore(database);
    this.parser = parser;
    this.aliases = aliases;
    this.lookup = lookup;
    this.observer = observer;
    for (KeyKind kind : KeyKind.values()) {
      together.put(
          kind,
          new Coalescer<>(
              "resolve",
              groupsMax,
              GROUP_TOKENS_MAX,
              tokens -> store.byTokensInOrder(kind, tokens)));
    }
    this.cache =
        new TrustedCache<>(
            feed, ChangeKind.ENDING, (_, state) -> state.subjectsOfChange(), cachedMax);
  }

  /** Resolves a text, by everything but the rules of older systems. */
  public ResolveOutcome resolve(String text, AllowedTypes allowed) {
    return resolve(parser.parseOfRow(text, allowed));
  }

  public ResolveOutcome resolve(IdText.OfRow text) {
    return outcome(lookedUp(text));
  }

  /** Which token a text stands for, by everything but the rules of older systems. */
  public IdText.Plain parse(String text, AllowedTypes allowed) {
    return lookedUp(parser.parseOfRow(text, allowed));
  }

  /** Resolves texts, in their order, with at most one query per table, and one for aliases. */
  public List<ResolveOutcome> resolveAll(List<IdText.OfRow> texts) {
    Map<Alias, Type> named = new LinkedHashMap<>();
    for (IdText.OfRow text : texts) {
      if (text instanceof IdText.OfPattern(Map<Alias, Type> names)) {
        named.putAll(names);
      }
    }
    Map<Alias, AliasTarget> targets = targets(named);
    return outcomes(texts.stream().map(text -> lookedUp(text, targets)).toList());
  }

  /**
   * Resolves an alias of the type. Only hits are cached, because an alias may be added at any time.
   */
  public ResolveOutcome resolveAlias(Type type, Alias alias) {
    return outcome(named(type, aliases.target(type, alias).orElse(null)));
  }

  /**
   * Resolves older IDs, in their order, with at most one query for aliases, one for keys, and one
   * per table. Keys are not cached, as in {@link Lookup}.
   */
  public List<ResolveOutcome> resolveOlder(List<? extends OlderId> ids) {
    Map<Alias, Type> named = new LinkedHashMap<>();
    Set<TypedKey> keys = new LinkedHashSet<>();
    for (OlderId id : ids) {
      switch (id) {
        case OlderId.LegacyId legacyId -> named.put(legacyId.alias(), legacyId.type());
        case OlderId.OfKey ofKey -> keys.add(ofKey.typedKey());
      }
    }
    Map<Alias, AliasTarget> targets = targets(named);
    Map<TypedKey, StoredMapping> rows = keys.isEmpty() ? Map.of() : lookup.byKey(List.copyOf(keys));
    List<IdText.Plain> texts = new ArrayList<>(ids.size());
    for (OlderId id : ids) {
      texts.add(
          switch (id) {
            case OlderId.LegacyId legacyId -> named(id.type(), targets.get(legacyId.alias()));
            case OlderId.OfKey ofKey -> {
              StoredMapping row = rows.get(ofKey.typedKey());
              yield wanted(id.type(), row == null ? null : row.token());
            }
          });
    }
    return outcomes(texts);
  }

  /**
   * Drops a public ID that has just ended here from the cache. Other instances hear of it through
   * the change feed.
   */
  public void forget(Type type, Token token) {
    cache.forget(new Asked(token, type.keyKind()));
  }

  private static IdText.Plain wanted(Type type, @Nullable Token token) {
    return token == null
        ? new IdText.Unissued(new ResolveOutcome.Unknown())
        : new IdText.OfToken(type, token);
  }

  private static IdText.Plain named(Type type, @Nullable AliasTarget target) {
    return switch (target) {
      case null -> wanted(type, null);
      case AliasTarget.Issued(Token token) -> wanted(type, token);
      case AliasTarget.Erased _ -> new IdText.OfErased(type);
    };
  }

  private Map<Alias, AliasTarget> targets(Map<Alias, Type> named) {
    return named.isEmpty() ? Map.of() : aliases.targets(named);
  }

  private IdText.Plain lookedUp(IdText.OfRow text) {
    return lookedUp(
        text, text instanceof IdText.OfPattern(Map<Alias, Type> names) ? targets(names) : Map.of());
  }

  private static IdText.Plain lookedUp(IdText.OfRow text, Map<Alias, AliasTarget> targets) {
    return switch (text) {
      case IdText.Plain plain -> plain;
      case IdText.OfPattern(Map<Alias, Type> names) -> {
        for (Map.Entry<Alias, Type> name : names.entrySet()) {
          AliasTarget target = targets.get(name.getKey());
          if (target != null) {
            yield named(name.getValue(), target);
          }
        }
        yield new IdText.Unissued(new ResolveOutcome.Unknown());
      }
    };
  }

  private ResolveOutcome outcome(IdText.Plain text) {
    return switch (text) {
      case IdText.Unissued(ResolveOutcome.Unissued outcome) -> outcome;
      case IdText.OfErased(Type type) -> new ResolveOutcome.Erased(type);
      case IdText.OfToken wanted ->
          cached(wanted).orElseGet(() -> outcomes(List.of(wanted)).getFirst());
    };
  }

  private Optional<ResolveOutcome> cached(IdText.OfToken wanted) {
    return cache
        .ifTrusted(Asked.of(wanted))
        .map(
            state -> {
              observer.observe(new Event.Resolved(1, 0, 0));
              return state.outcome(wanted.type());
            });
  }

  private List<ResolveOutcome> outcomes(List<? extends IdText.Plain> texts) {
    List<IdText.OfToken> wanted = new ArrayList<>(texts.size());
    for (IdText.Plain text : texts) {
      if (text instanceof IdText.OfToken each) {
        wanted.add(each);
      }
    }
    Map<Asked, MappingState> found = wanted.isEmpty() ? Map.of() : find(wanted);
    List<ResolveOutcome> outcomes = new ArrayList<>(texts.size());
    for (IdText.Plain text : texts) {
      outcomes.add(
          switch (text) {
            case IdText.Unissued(ResolveOutcome.Unissued outcome) -> outcome;
            case IdText.OfErased(Type type) -> new ResolveOutcome.Erased(type);
            case IdText.OfToken each ->
                requireNonNull(found.get(Asked.of(each))).outcome(each.type());
          });
    }
    return outcomes;
  }

  private Map<Asked, MappingState> find(List<IdText.OfToken> wanted) {
    Map<Asked, Duration> staleMax = HashMap.newHashMap(wanted.size());
    wanted.forEach(
        each -> staleMax.merge(Asked.of(each), each.type().outage().staleMax(), Resolver::shorter));
    List<MappingState> loaded = Collections.synchronizedList(new ArrayList<>());
    Map<Asked, MappingState> found =
        cache.getAll(
            List.copyOf(staleMax.keySet()),
            asked -> requireNonNull(staleMax.get(asked)),
            missing -> {
              Map<Asked, MappingState> some = load(missing);
              loaded.addAll(some.values());
              return some;
            });
    // A load that was too late may still add to them.
    List<MappingState> fresh = List.copyOf(loaded);
    int absent =
        Math.toIntExact(fresh.stream().filter(MappingState.Nothing.class::isInstance).count());
    observer.observe(
        new Event.Resolved(found.size() - fresh.size(), fresh.size() - absent, absent));
    return found;
  }

  private static Duration shorter(Duration one, Duration other) {
    return one.compareTo(other) <= 0 ? one : other;
  }

  private Map<Asked, MappingState> load(List<Asked> missing) {
    Map<Asked, MappingState> found = HashMap.newHashMap(missing.size());
    for (KeyKind kind : KeyKind.values()) {
      List<Token> tokens = new ArrayList<>();
      for (Asked asked : missing) {
        if (asked.kind() == kind) {
          found.put(asked, new MappingState.Nothing());
          tokens.add(asked.token());
        }
      }
      if (!tokens.isEmpty()) {
        for (MappingState.Known state : store.states(kind, rows(kind, tokens))) {
          found.put(new Asked(state.row().token(), kind), state);
        }
      }
    }
    return found;
  }

  /** Concurrent callers with one token each share a statement. */
  private List<StoredMapping> rows(KeyKind kind, List<Token> tokens) {
    return tokens.size() == 1
        ? requireNonNull(together.get(kind)).call(tokens.getFirst()).stream().toList()
        : store.byTokens(kind, tokens);
  }
}
