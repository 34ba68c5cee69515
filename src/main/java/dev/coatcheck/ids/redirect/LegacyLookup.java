package dev.coatcheck.ids.redirect;

import static java.util.Objects.requireNonNull;

import dev.coatcheck.core.observe.Event;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.ids.alias.Alias;
import dev.coatcheck.ids.mapping.ResolveOutcome;
import dev.coatcheck.ids.mapping.Resolver;
import dev.coatcheck.ids.mapping.TypedKey;
import dev.coatcheck.ids.registry.Type;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Finds what an old auto-increment number, or a key in a public ID of an older system, stands for
 * today, and counts what was found.
 */
public final class LegacyLookup {
  private final Resolver resolver;
  private final LegacySource source;
  private final LegacyHits hits;
  private final Observer observer;

  LegacyLookup(Resolver resolver, LegacySource source, LegacyHits hits, Observer observer) {
    this.resolver = resolver;
    this.source = source;
    this.hits = hits;
    this.observer = observer;
  }

  /**
   * Whatever the type's policy says. While a table migration fills the type, a number without a
   * mapping is looked for in the table.
   *
   * @throws dev.coatcheck.postgres.sql.DatabaseUnavailable if Postgres can't be asked
   */
  public ResolveOutcome find(Type type, long number) {
    return find(new LegacyId(type, number));
  }

  /** As the other one, for what a public ID of an older system carries. */
  ResolveOutcome find(OlderId id) {
    ResolveOutcome outcome =
        switch (id) {
          case LegacyId legacyId -> findOrFill(legacyId);
          case OlderId.OfKey ofKey -> requireNonNull(resolveKeys(Set.of(ofKey)).get(ofKey));
        };
    count(id.type(), outcome);
    return outcome;
  }

  private ResolveOutcome findOrFill(LegacyId id) {
    ResolveOutcome outcome = resolver.resolveAlias(id.type(), id.alias());
    if (isToBeFilled(id, outcome) && source.fillOnDemand(id.type(), id.number())) {
      outcome = resolver.resolveAlias(id.type(), id.alias());
    }
    return outcome;
  }

  /**
   * As {@link #find}, for many, in their order; with at most one query for the aliases, one for the
   * keys and one per table, and as many again if rows of a table migration are found. Each ID
   * counts as often as it is asked for.
   *
   * @throws dev.coatcheck.postgres.sql.DatabaseUnavailable if Postgres can't be asked
   */
  public List<ResolveOutcome> findAll(List<? extends OlderId> ids) {
    if (ids.size() == 1) {
      return List.of(find(ids.getFirst()));
    }
    Set<LegacyId> legacyIds = new LinkedHashSet<>();
    Set<OlderId.OfKey> keys = new LinkedHashSet<>();
    Map<OlderId, ResolveOutcome> found = HashMap.newHashMap(ids.size());
    for (OlderId id : ids) {
      switch (id) {
        case LegacyId legacyId -> legacyIds.add(legacyId);
        case OlderId.OfKey ofKey -> keys.add(ofKey);
      }
    }
    found.putAll(resolve(legacyIds));
    Set<LegacyId> filled = new LinkedHashSet<>();
    for (LegacyId id : legacyIds) {
      if (isToBeFilled(id, requireNonNull(found.get(id)))
          && source.fillOnDemand(id.type(), id.number())) {
        filled.add(id);
      }
    }
    found.putAll(resolve(filled));
    found.putAll(resolveKeys(keys));
    List<ResolveOutcome> outcomes = ids.stream().map(id -> requireNonNull(found.get(id))).toList();
    for (int i = 0; i < ids.size(); i++) {
      count(ids.get(i).type(), outcomes.get(i));
    }
    return outcomes;
  }

  /** Whether numbers are still being given, so that none is too high. */
  boolean isGrowing(Type type) {
    return source.isFilling(type);
  }

  private Map<LegacyId, ResolveOutcome> resolve(Set<LegacyId> ids) {
    Map<Alias, Type> aliases = HashMap.newHashMap(ids.size());
    ids.forEach(id -> aliases.put(id.alias(), id.type()));
    Map<Alias, ResolveOutcome> outcomes = resolver.resolveAliases(aliases);
    Map<LegacyId, ResolveOutcome> found = HashMap.newHashMap(ids.size());
    ids.forEach(id -> found.put(id, requireNonNull(outcomes.get(id.alias()))));
    return found;
  }

  private Map<OlderId.OfKey, ResolveOutcome> resolveKeys(Set<OlderId.OfKey> ids) {
    Map<TypedKey, Type> keys = HashMap.newHashMap(ids.size());
    ids.forEach(id -> keys.put(TypedKey.of(id.type(), id.key()), id.type()));
    Map<TypedKey, ResolveOutcome> outcomes = resolver.resolveKeys(keys);
    Map<OlderId.OfKey, ResolveOutcome> found = HashMap.newHashMap(ids.size());
    ids.forEach(
        id -> found.put(id, requireNonNull(outcomes.get(TypedKey.of(id.type(), id.key())))));
    return found;
  }

  private boolean isToBeFilled(LegacyId id, ResolveOutcome outcome) {
    return outcome instanceof ResolveOutcome.Unknown && source.isFilling(id.type());
  }

  private void count(Type type, ResolveOutcome outcome) {
    boolean found =
        switch (outcome) {
          case ResolveOutcome.Found _, ResolveOutcome.Merged _ -> true;
          case ResolveOutcome.Revoked _, ResolveOutcome.Unknown _, ResolveOutcome.Malformed _ ->
              false;
        };
    if (found) {
      hits.count(type);
    }
    observer.observe(new Event.LegacyAnswered(type.name(), found ? "found" : "not found"));
  }
}
