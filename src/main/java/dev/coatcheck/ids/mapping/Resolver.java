package dev.coatcheck.ids.mapping;

import static java.util.Objects.requireNonNull;

import dev.coatcheck.cluster.change.ChangeFeed;
import dev.coatcheck.cluster.change.ChangeKind;
import dev.coatcheck.cluster.change.TrustedCache;
import dev.coatcheck.core.id.Token;
import dev.coatcheck.core.key.KeyKind;
import dev.coatcheck.core.observe.Event;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.ids.alias.Alias;
import dev.coatcheck.ids.mapping.IdParser.ParsedToken;
import dev.coatcheck.ids.registry.Type;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * Turns public IDs into keys. Hits and misses are cached: nobody asks for a random token before it
 * exists. The change feed says for how long a cached state may be trusted. Malformed texts are
 * refused without a query.
 */
public final class Resolver {
  /**
   * The subject of a change that brought public IDs from elsewhere: an ID that was not there may be
   * there now. Minted IDs need no such change, because nobody asks for a random token before.
   */
  public static final String IMPORTED = "imported";

  private final MappingStore store;
  private final IdParser parser;
  private final Observer observer;
  private final TrustedCache<Asked, MappingState> cache;

  /**
   * A token in the table that the keys of a kind lie in. With an order, by which a map finds keys
   * of one hash: a client may ask for many of those.
   */
  private record Asked(Token token, KeyKind kind) implements Comparable<Asked> {
    static Asked of(ParsedToken.Wanted wanted) {
      return new Asked(wanted.token(), wanted.type().keyKind());
    }

    @Override
    public int compareTo(Asked other) {
      int order = token.compareTo(other.token);
      return order != 0 ? order : kind.compareTo(other.kind);
    }
  }

  Resolver(
      MappingStore store,
      IdParser parser,
      ChangeFeed feed,
      Observer observer,
      int cachedMappingsMax) {
    this.store = store;
    this.parser = parser;
    this.observer = observer;
    this.cache =
        new TrustedCache<>(
            feed, ChangeKind.ENDING, (_, state) -> state.subjectsOfChange(), cachedMappingsMax);
  }

  /**
   * Resolves one text.
   *
   * @throws dev.coatcheck.postgres.sql.DatabaseUnavailable if it isn't cached and Postgres can't be
   *     asked
   */
  public ResolveOutcome resolve(String text) {
    return resolve(text, _ -> true);
  }

  /**
   * As {@link #resolve(String)}, for public IDs of these types only: all others are answered like
   * malformed texts, without a query.
   */
  public ResolveOutcome resolve(String text, Predicate<Type> types) {
    return switch (parser.parse(text, types)) {
      case ParsedToken.Refused(ResolveOutcome.Unissued refusal) -> refusal;
      case ParsedToken.Wanted(Type type, Token token) -> resolve(type, token);
    };
  }

  /**
   * Resolves an alias of the type. A name that is given is cached; that a name is not there never
   * is, because it may be given at any time.
   *
   * @throws dev.coatcheck.postgres.sql.DatabaseUnavailable if Postgres can't be asked
   */
  public ResolveOutcome resolveAlias(Type type, Alias alias) {
    return parser
        .target(type, alias)
        .map(token -> resolve(type, token))
        .orElseGet(ResolveOutcome.Unknown::new);
  }

  /**
   * As {@link #resolveAlias}, for many, each of its type; with at most one query for the aliases,
   * and one per table.
   */
  public Map<Alias, ResolveOutcome> resolveAliases(Map<Alias, Type> aliases) {
    if (aliases.isEmpty()) {
      return Map.of();
    }
    return outcomes(aliases, parser.targets(aliases));
  }

  /**
   * Resolves keys, each of its type. They are not cached, as in {@link Lookup}; with at most one
   * query for the keys, and one per table.
   */
  public Map<TypedKey, ResolveOutcome> resolveKeys(Map<TypedKey, Type> keys) {
    if (keys.isEmpty()) {
      return Map.of();
    }
    Map<TypedKey, Token> tokens = HashMap.newHashMap(keys.size());
    store.byKey(List.copyOf(keys.keySet())).forEach((key, row) -> tokens.put(key, row.token()));
    return outcomes(keys, tokens);
  }

  /** The outcomes of questions about types; those without a token are unknown. */
  private <Q> Map<Q, ResolveOutcome> outcomes(Map<Q, Type> questions, Map<Q, Token> tokens) {
    Map<Q, ParsedToken.Wanted> wanted = HashMap.newHashMap(tokens.size());
    tokens.forEach(
        (question, token) ->
            wanted.put(
                question, new ParsedToken.Wanted(requireNonNull(questions.get(question)), token)));
    Map<Asked, MappingState> found =
        wanted.isEmpty() ? Map.of() : find(List.copyOf(wanted.values()));
    Map<Q, ResolveOutcome> outcomes = HashMap.newHashMap(questions.size());
    for (Q question : questions.keySet()) {
      ParsedToken.Wanted sound = wanted.get(question);
      outcomes.put(
          question,
          sound == null
              ? new ResolveOutcome.Unknown()
              : requireNonNull(found.get(Asked.of(sound))).outcome(sound.type()));
    }
    return outcomes;
  }

  /** Which token a text stands for, issued or not. */
  public ParsedToken parse(String text) {
    return parser.parse(text, _ -> true);
  }

  /**
   * Resolves many texts, in their order, with at most one query per table, and one for older names.
   */
  public List<ResolveOutcome> resolveAll(List<String> texts) {
    List<ParsedToken> named = parser.parseAll(texts);
    List<ParsedToken.Wanted> wanted = new ArrayList<>();
    for (ParsedToken each : named) {
      if (each instanceof ParsedToken.Wanted sound) {
        wanted.add(sound);
      }
    }
    Map<Asked, MappingState> found = find(wanted);
    return named.stream()
        .map(
            each ->
                switch (each) {
                  case ParsedToken.Refused(ResolveOutcome.Unissued refusal) -> refusal;
                  case ParsedToken.Wanted sound ->
                      requireNonNull(found.get(Asked.of(sound))).outcome(sound.type());
                })
        .toList();
  }

  private ResolveOutcome resolve(Type type, Token token) {
    ParsedToken.Wanted wanted = new ParsedToken.Wanted(type, token);
    return cached(wanted)
        .orElseGet(() -> requireNonNull(find(List.of(wanted)).get(Asked.of(wanted))).outcome(type));
  }

  private Optional<ResolveOutcome> cached(ParsedToken.Wanted wanted) {
    return cache
        .ifTrusted(Asked.of(wanted))
        .map(
            state -> {
              observer.observe(new Event.Resolved(1, 0, 0));
              return state.outcome(wanted.type());
            });
  }

  private Map<Asked, MappingState> find(List<ParsedToken.Wanted> wanted) {
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
        for (MappingState.Known state : store.states(kind, tokens)) {
          found.put(new Asked(state.row().token(), kind), state);
        }
      }
    }
    return found;
  }

  /**
   * Asks for the public ID anew: it was just ended here. Other instances hear of it through the
   * change feed.
   */
  public void forget(Type type, Token token) {
    cache.forget(new Asked(token, type.keyKind()));
  }
}
