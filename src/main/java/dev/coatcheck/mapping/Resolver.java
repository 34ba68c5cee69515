package dev.coatcheck.mapping;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import dev.coatcheck.id.ParsedId;
import dev.coatcheck.id.PublicId;
import dev.coatcheck.id.Token;
import dev.coatcheck.observe.Event;
import dev.coatcheck.observe.Observer;
import dev.coatcheck.registry.Registry;
import dev.coatcheck.registry.Type;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * Turns public IDs into keys. What was found is cached. Malformed texts are refused without asking
 * anybody.
 */
public final class Resolver {
  private final Stores stores;
  private final Registry registry;
  private final Observer observer;
  private final Cache<Token, Finding> cache;

  /** Whom it asks. */
  record Stores(MappingStore mappings, EndingStore endings, AliasStore aliases) {}

  Resolver(Stores stores, Registry registry, Observer observer, int cachedMappingsMax) {
    this.stores = stores;
    this.registry = registry;
    this.observer = observer;
    this.cache = Caffeine.newBuilder().maximumSize(cachedMappingsMax).build();
  }

  /**
   * Resolves one text.
   *
   * @throws dev.coatcheck.db.DatabaseUnavailable if it isn't cached and Postgres can't be asked
   */
  public ResolveOutcome resolve(String text) {
    return switch (name(text)) {
      case Named.Refused(ResolveOutcome.Malformed malformed) -> malformed;
      case Named.Wanted(Type type, Token token) -> resolve(type, token);
    };
  }

  /**
   * As {@link #resolve}, where memory alone decides; never waits.
   *
   * @return empty if Postgres has to be asked, for the type or for the row
   */
  public Optional<ResolveOutcome> resolveIfCached(String text) {
    return switch (PublicId.parse(text)) {
      case ParsedId.Malformed(ParsedId.Reason reason, int position) ->
          Optional.of(new ResolveOutcome.Malformed(reason, position));
      case ParsedId.Valid(PublicId id) ->
          registry.withPrefixIfCached(id.prefix()).flatMap(type -> cached(type, id.token()));
    };
  }

  /**
   * Resolves another name. That a name is not there is never cached: it may be given at any time.
   *
   * @throws dev.coatcheck.db.DatabaseUnavailable if Postgres can't be asked
   */
  public ResolveOutcome resolveAlias(Type type, AliasScheme scheme, String value) {
    return stores
        .aliases()
        .target(Alias.of(type, scheme, value))
        .map(token -> resolve(type, token))
        .orElseGet(ResolveOutcome.Unknown::new);
  }

  /** Resolves many texts, in their order, with at most one query per table. */
  public List<ResolveOutcome> resolveAll(List<String> texts) {
    List<Named> named = texts.stream().map(this::name).toList();
    Map<Token, Finding> rows = HashMap.newHashMap(texts.size());
    List<Named.Wanted> missing = new ArrayList<>();
    for (Named each : named) {
      if (each instanceof Named.Wanted wanted) {
        Finding row = cache.getIfPresent(wanted.token());
        if (row == null) {
          missing.add(wanted);
        } else {
          rows.put(wanted.token(), row);
        }
      }
    }
    int cached = rows.size();
    missing.stream()
        .collect(Collectors.groupingBy(wanted -> MappingTable.of(wanted.type().keyScheme())))
        .forEach(
            (table, some) -> load(table, some).forEach(row -> rows.put(row.row().token(), row)));
    int loaded = rows.size() - cached;
    observer.observe(new Event.Resolved(cached, loaded, missing.size() - loaded));
    return named.stream().map(each -> outcome(each, rows)).toList();
  }

  private List<Finding> load(MappingTable<?> table, List<Named.Wanted> wanted) {
    List<Finding> found =
        findings(
            table,
            stores
                .mappings()
                .byTokens(table, wanted.stream().map(Named.Wanted::token).distinct().toList()));
    found.forEach(each -> cache.put(each.row().token(), each));
    return found;
  }

  /** The endings are asked for only where a row says that there is one. */
  private List<Finding> findings(MappingTable<?> table, List<StoredMapping> rows) {
    List<Finding> found = new ArrayList<>();
    List<StoredMapping> ended = new ArrayList<>();
    for (StoredMapping row : rows) {
      if (row.status() == Mapping.Status.ACTIVE) {
        found.add(new Finding.Active(row));
      } else {
        ended.add(row);
      }
    }
    if (!ended.isEmpty()) {
      found.addAll(stores.endings().findings(table, ended));
    }
    return found;
  }

  /** A token that was just ended here. The others hear of it through the change feed. */
  void forget(Token token) {
    cache.invalidate(token);
  }

  /** Asks the database for everything from now on. */
  void forgetAll() {
    cache.invalidateAll();
  }

  private static ResolveOutcome outcome(Named named, Map<Token, Finding> rows) {
    return switch (named) {
      case Named.Refused(ResolveOutcome.Malformed malformed) -> malformed;
      case Named.Wanted(Type type, Token token) ->
          outcome(type, Optional.ofNullable(rows.get(token)));
    };
  }

  private ResolveOutcome resolve(Type type, Token token) {
    return cached(type, token).orElseGet(() -> loaded(type, token));
  }

  private Optional<ResolveOutcome> cached(Type type, Token token) {
    Finding cached = cache.getIfPresent(token);
    if (cached == null) {
      return Optional.empty();
    }
    observer.observe(new Event.Resolved(1, 0, 0));
    return Optional.of(outcome(type, Optional.of(cached)));
  }

  private ResolveOutcome loaded(Type type, Token token) {
    Optional<Finding> row =
        findings(
                MappingTable.of(type.keyScheme()),
                stores.mappings().byToken(type, token).stream().toList())
            .stream()
            .findFirst();
    row.ifPresent(found -> cache.put(token, found));
    observer.observe(new Event.Resolved(0, row.isPresent() ? 1 : 0, row.isPresent() ? 0 : 1));
    return outcome(type, row);
  }

  /** A row of another type than the prefix says looks like no row at all. */
  private static ResolveOutcome outcome(Type type, Optional<Finding> found) {
    return found
        .filter(each -> each.row().typeNumber() == type.number())
        .map(each -> each.of(type))
        .orElseGet(ResolveOutcome.Unknown::new);
  }

  /** A text after parsing: what it asks for, or why it can't be a public ID. */
  sealed interface Named {
    record Wanted(Type type, Token token) implements Named {}

    record Refused(ResolveOutcome.Malformed malformed) implements Named {}
  }

  Named name(String text) {
    return switch (PublicId.parse(text)) {
      case ParsedId.Malformed(ParsedId.Reason reason, int position) ->
          new Named.Refused(new ResolveOutcome.Malformed(reason, position));
      case ParsedId.Valid(PublicId id) ->
          registry
              .withPrefix(id.prefix())
              .<Named>map(type -> new Named.Wanted(type, id.token()))
              .orElseGet(
                  () -> new Named.Refused(new ResolveOutcome.Malformed(ParsedId.Reason.PREFIX, 0)));
    };
  }
}
