package dev.coatcheck.ids.mapping;

import static java.util.Objects.requireNonNull;

import dev.coatcheck.cluster.change.ChangeFeed;
import dev.coatcheck.cluster.change.ChangeKind;
import dev.coatcheck.cluster.change.TrustedCache;
import dev.coatcheck.core.attempt.NonBlockingAttempt;
import dev.coatcheck.core.id.Token;
import dev.coatcheck.core.key.KeyKind;
import dev.coatcheck.core.observe.Event;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.core.seal.SealKeyMissing;
import dev.coatcheck.core.seal.Sealing;
import dev.coatcheck.core.seal.Sealing.Opened;
import dev.coatcheck.ids.access.AllowedTypes;
import dev.coatcheck.ids.alias.Alias;
import dev.coatcheck.ids.alias.AliasTarget;
import dev.coatcheck.ids.alias.Aliases;
import dev.coatcheck.ids.registry.Type;
import dev.coatcheck.postgres.group.Coalescer;
import dev.coatcheck.postgres.sql.DatabaseUnavailable;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.IntPredicate;
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
  private final SealedRows sealedRows;
  private final Observer observer;
  private final Map<KeyKind, Coalescer<Token, Optional<StoredMapping>>> together =
      new EnumMap<>(KeyKind.class);
  private final TrustedCache<Asked, MappingState> cache;

  /**
   * A token in the table for keys of a kind. Comparable, so that a hash map stays fast even if a
   * client sends many tokens of one hash.
   *
   * @param sealedType the number of a sealed type, for which the seal key may say what no row says;
   *     0 for all others
   */
  private record Asked(Token token, KeyKind kind, int sealedType) implements Comparable<Asked> {
    private static final Comparator<Asked> ORDER =
        Comparator.comparing(Asked::token)
            .thenComparing(Asked::kind)
            .thenComparingInt(Asked::sealedType);

    static Asked of(IdText.OfToken wanted) {
      return of(wanted.type(), wanted.token());
    }

    static Asked of(Type type, Token token) {
      return new Asked(token, type.keyKind(), type.sealing().isPresent() ? type.number() : 0);
    }

    @Override
    public int compareTo(Asked other) {
      return ORDER.compare(this, other);
    }
  }

  /**
   * Reads rows where the look-up reads them.
   *
   * @param feed says how long what was resolved may be trusted
   * @param cachedMax how many resolved public IDs stay in memory, about 320 bytes each
   * @param groupsMax how many statements read single public IDs at a time, in each of the two
   *     tables
   */
  public Resolver(
      IdParser parser,
      Aliases aliases,
      Lookup lookup,
      SealedRows sealedRows,
      ChangeFeed feed,
      Observer observer,
      int cachedMax,
      int groupsMax) {
    this.store = lookup.store();
    this.parser = parser;
    this.aliases = aliases;
    this.lookup = lookup;
    this.sealedRows = sealedRows;
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
    IdText.Plain plain = lookedUp(text);
    return text instanceof IdText.OfPattern ? ofAlias(plain, outcome(plain)) : outcome(plain);
  }

  /**
   * Which token a text stands for, by everything but the rules of older systems.
   *
   * @throws SealKeyMissing if the public ID may be sealed with a seal key that this instance lacks,
   *     and has no row: it must not be taken for an ID that does not exist
   */
  public IdText.Plain parse(String text, AllowedTypes allowed) {
    IdText.Plain parsed = lookedUp(parser.parseOfRow(text, allowed));
    if (parsed instanceof IdText.OfToken(Type type, Token token)
        && type.sealing()
            .filter(sealing -> sealing.open(token) instanceof Opened.KeyMissing)
            .isPresent()) {
      var _ = outcome(parsed); // throws, unless the public ID has a row
    }
    return parsed;
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
    List<IdText.Plain> plain = texts.stream().map(text -> lookedUp(text, targets)).toList();
    return outcomes(plain, index -> texts.get(index) instanceof IdText.OfPattern);
  }

  /**
   * Resolves an alias of the type. Only hits are cached, because an alias may be added at any time.
   */
  public ResolveOutcome resolveAlias(Type type, Alias alias) {
    IdText.Plain text = named(type, aliases.target(type, alias).orElse(null));
    return ofAlias(text, outcome(text));
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
    return outcomes(texts, index -> ids.get(index) instanceof OlderId.LegacyId);
  }

  private List<ResolveOutcome> outcomes(List<IdText.Plain> texts, IntPredicate isAlias) {
    List<ResolveOutcome> outcomes = outcomes(texts);
    for (int i = 0; i < outcomes.size(); i++) {
      if (isAlias.test(i)) {
        outcomes.set(i, ofAlias(texts.get(i), outcomes.get(i)));
      }
    }
    return outcomes;
  }

  /**
   * What an alias stands for. Where tables are distributed, an alias may become visible before its
   * mapping; it is never unknown for that. It is unknown if its key was not pinned when its era was
   * closed.
   *
   * @throws DatabaseUnavailable if the mapping isn't there after a second look
   */
  private ResolveOutcome ofAlias(IdText.Plain text, ResolveOutcome outcome) {
    if (!(text instanceof IdText.OfToken wanted) || !(outcome instanceof ResolveOutcome.Unknown)) {
      return outcome;
    }
    NonBlockingAttempt.leave(); // where the second look would get the answer of the first
    cache.forget(Asked.of(wanted));
    ResolveOutcome again = outcome(text);
    if (again instanceof ResolveOutcome.Unknown && !mayBeUnpinned(wanted.type())) {
      cache.forget(Asked.of(wanted));
      throw new DatabaseUnavailable("alias before its mapping");
    }
    return again;
  }

  /** Whether keys of the type may have lost their public IDs, with their aliases left over. */
  private static boolean mayBeUnpinned(Type type) {
    return type.sealing().stream()
        .flatMap(sealing -> sealing.eras().stream())
        .anyMatch(Sealing.Era::isClosed);
  }

  /**
   * Drops a public ID that may have just ended here from the cache. Other instances hear of it
   * through the change feed.
   */
  public void forget(Type type, Token token) {
    if (type.isSealed(token)) { // or made-up ones would fill the filter
      sealedRows.add(token);
    }
    store.noteEnding(TypedToken.of(type, token));
    cache.forget(Asked.of(type, token));
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
          sealed(wanted)
              .or(() -> cached(wanted))
              .orElseGet(() -> outcomes(List.of(wanted)).getFirst());
    };
  }

  /**
   * What a token of a sealed type stands for, if no row can say otherwise.
   *
   * @throws SealKeyMissing if it may be sealed with a seal key that this instance lacks
   */
  private Optional<ResolveOutcome> sealed(IdText.OfToken wanted) {
    Type type = wanted.type();
    if (type.sealing().isEmpty()) {
      return Optional.empty();
    }
    Sealing sealing = type.sealing().get();
    return switch (sealing.open(wanted.token())) {
      case Opened.OfKey(long key) when sealedRows.haveNone(wanted.id()) -> {
        observer.observe(new Event.Resolved(1, 0, 0));
        yield Optional.of(
            new ResolveOutcome.Found(
                StoredMapping.opened(type, sealing, key, wanted.token()).of(type)));
      }
      case Opened.NotSealed _ when !sealing.hasStoredKeys() -> {
        observer.observe(new Event.Resolved(0, 0, 1));
        yield Optional.of(new ResolveOutcome.Unknown());
      }
      case Opened.KeyMissing(String fingerprint) when !sealing.hasStoredKeys() ->
          throw new SealKeyMissing(fingerprint);
      case Opened.OfKey _, Opened.NotSealed _, Opened.KeyMissing _ -> Optional.empty();
    };
  }

  private Optional<ResolveOutcome> cached(IdText.OfToken wanted) {
    return cache
        .ifTrusted(Asked.of(wanted))
        .filter(state -> !isOfClosedEra(wanted, state))
        .map(
            state -> {
              observer.observe(new Event.Resolved(1, 0, 0));
              return outcome(wanted, state);
            });
  }

  /** Whether no seal key opens the token any more that one opened when the state was loaded. */
  private static boolean isOfClosedEra(IdText.OfToken wanted, MappingState state) {
    return state instanceof MappingState.Computed && !wanted.type().isSealed(wanted.token());
  }

  private List<ResolveOutcome> outcomes(List<? extends IdText.Plain> texts) {
    List<IdText.OfToken> wanted = new ArrayList<>(texts.size());
    Map<IdText.OfToken, ResolveOutcome> sealed = new HashMap<>();
    for (IdText.Plain text : texts) {
      if (text instanceof IdText.OfToken each) {
        sealed(each).ifPresentOrElse(known -> sealed.put(each, known), () -> wanted.add(each));
      }
    }
    Map<Asked, MappingState> found = wanted.isEmpty() ? Map.of() : find(wanted);
    List<ResolveOutcome> outcomes = new ArrayList<>(texts.size());
    for (IdText.Plain text : texts) {
      outcomes.add(
          switch (text) {
            case IdText.Unissued(ResolveOutcome.Unissued outcome) -> outcome;
            case IdText.OfErased(Type type) -> new ResolveOutcome.Erased(type);
            case IdText.OfToken each when sealed.containsKey(each) ->
                requireNonNull(sealed.get(each));
            case IdText.OfToken each -> outcome(each, requireNonNull(found.get(Asked.of(each))));
          });
    }
    return outcomes;
  }

  private static ResolveOutcome outcome(IdText.OfToken wanted, MappingState state) {
    ResolveOutcome outcome = state.outcome(wanted.type());
    if (outcome instanceof ResolveOutcome.Unknown
        && wanted.type().sealing().map(sealing -> sealing.open(wanted.token())).orElse(null)
            instanceof Opened.KeyMissing(String fingerprint)) {
      throw new SealKeyMissing(fingerprint);
    }
    return outcome;
  }

  private Map<Asked, MappingState> find(List<IdText.OfToken> wanted) {
    Map<Asked, Duration> staleMax = HashMap.newHashMap(wanted.size());
    wanted.forEach(
        each -> staleMax.merge(Asked.of(each), each.type().outage().staleMax(), Resolver::shorter));
    Map<Asked, StoredMapping> opened = new HashMap<>();
    wanted.forEach(
        each ->
            StoredMapping.opened(each.type(), each.token())
                .ifPresent(row -> opened.put(Asked.of(each), row)));
    wanted.stream()
        .filter(each -> each.type().sealing().isPresent())
        .filter(
            each ->
                cache
                    .ifTrusted(Asked.of(each))
                    .filter(state -> isOfClosedEra(each, state))
                    .isPresent())
        .forEach(each -> cache.forget(Asked.of(each)));
    List<MappingState> loaded = Collections.synchronizedList(new ArrayList<>());
    Map<Asked, MappingState> found;
    try {
      found =
          cache.getAll(
              List.copyOf(staleMax.keySet()),
              asked -> requireNonNull(staleMax.get(asked)),
              missing -> {
                Map<Asked, MappingState> some = load(missing, opened);
                loaded.addAll(some.values());
                return some;
              });
    } catch (DatabaseUnavailable outage) {
      if (!staleMax.keySet().stream()
          .allMatch(
              asked ->
                  opened.containsKey(asked)
                      && sealedRows.hadNone(
                          requireNonNull(opened.get(asked)).id(),
                          requireNonNull(staleMax.get(asked))))) {
        throw outage;
      }
      Map<Asked, MappingState> without = HashMap.newHashMap(opened.size());
      opened.forEach((asked, row) -> without.put(asked, new MappingState.Computed(row)));
      return without;
    }
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

  /**
   * @param opened the mappings of those that are sealed, which need no row
   */
  private Map<Asked, MappingState> load(List<Asked> missing, Map<Asked, StoredMapping> opened) {
    Map<Asked, MappingState> found = HashMap.newHashMap(missing.size());
    for (KeyKind kind : KeyKind.values()) {
      Map<Token, List<Asked>> byToken = new LinkedHashMap<>();
      for (Asked asked : missing) {
        if (asked.kind() == kind) {
          StoredMapping row = opened.get(asked);
          found.put(
              asked, row == null ? new MappingState.Nothing() : new MappingState.Computed(row));
          byToken.computeIfAbsent(asked.token(), _ -> new ArrayList<>(1)).add(asked);
        }
      }
      if (!byToken.isEmpty()) {
        for (MappingState.Known state :
            store.states(kind, rows(kind, List.copyOf(byToken.keySet())))) {
          for (Asked asked : byToken.getOrDefault(state.row().token(), List.of())) {
            StoredMapping own = opened.get(asked);
            // Another type may have been given the same token by an import.
            if (own == null || own.typeNumber() == state.row().typeNumber()) {
              found.put(asked, state);
            }
          }
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
