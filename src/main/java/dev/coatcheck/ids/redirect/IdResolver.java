package dev.coatcheck.ids.redirect;

import dev.coatcheck.core.attempt.NonBlockingAttempt;
import dev.coatcheck.ids.mapping.ResolveOutcome;
import dev.coatcheck.ids.mapping.Resolver;
import dev.coatcheck.ids.registry.Registry;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;

/**
 * Resolves public IDs of ours and of older systems. Those that a rule decodes are looked up, and
 * counted, as the legacy IDs or keys that they carry.
 */
public final class IdResolver {
  private final Registry registry;
  private final Resolver resolver;
  private final LegacyLookup lookup;

  IdResolver(Registry registry, Resolver resolver, LegacyLookup lookup) {
    this.registry = registry;
    this.resolver = resolver;
    this.lookup = lookup;
  }

  /**
   * Resolves one text.
   *
   * @throws dev.coatcheck.postgres.sql.DatabaseUnavailable if Postgres has to be asked and can't be
   */
  public ResolveOutcome resolve(String text) {
    return OlderId.decoded(text, registry)
        .map(lookup::find)
        .orElseGet(() -> resolver.resolve(text));
  }

  /**
   * As {@link #resolve}, for many, in their order; with at most one query per table, one for
   * aliases and one for keys.
   *
   * @throws dev.coatcheck.postgres.sql.DatabaseUnavailable if Postgres has to be asked and can't be
   */
  public List<ResolveOutcome> resolveAll(List<String> texts) {
    if (registry.withOlderSystem().isEmpty()) {
      return resolver.resolveAll(texts);
    }
    List<Optional<OlderId>> decoded =
        texts.stream().map(text -> OlderId.decoded(text, registry)).toList();
    List<String> others = new ArrayList<>();
    for (int i = 0; i < texts.size(); i++) {
      if (decoded.get(i).isEmpty()) {
        others.add(texts.get(i));
      }
    }
    List<OlderId> older = decoded.stream().flatMap(Optional::stream).toList();
    if (older.isEmpty()) {
      return resolver.resolveAll(texts);
    }
    NonBlockingAttempt.leave(); // what the first query found is counted before the second one waits
    Iterator<ResolveOutcome> found = resolver.resolveAll(others).iterator();
    Iterator<ResolveOutcome> foundOlder = lookup.findAll(older).iterator();
    return decoded.stream().map(id -> (id.isPresent() ? foundOlder : found).next()).toList();
  }
}
