package dev.coatcheck.ids.redirect;

import dev.coatcheck.core.observe.Event;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.ids.alias.Alias;
import dev.coatcheck.ids.alias.AliasScheme;
import dev.coatcheck.ids.mapping.ResolveOutcome;
import dev.coatcheck.ids.mapping.Resolver;
import dev.coatcheck.ids.registry.Type;
import dev.coatcheck.postgres.connection.WithoutWaiting;

/** Finds what an old auto-increment number stands for today, and counts what was found. */
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
    ResolveOutcome outcome = resolve(type, number);
    if (outcome instanceof ResolveOutcome.Unknown && source.isFilling(type)) {
      WithoutWaiting.leave();
      if (source.fillOnDemand(type, number)) {
        outcome = resolve(type, number);
      }
    }
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
    return outcome;
  }

  /** Whether numbers are still being given, so that none is too high. */
  boolean isGrowing(Type type) {
    return source.isFilling(type);
  }

  private ResolveOutcome resolve(Type type, long number) {
    return resolver.resolveAlias(type, Alias.of(type, AliasScheme.LEGACY, Long.toString(number)));
  }
}
