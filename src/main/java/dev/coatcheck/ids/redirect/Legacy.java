package dev.coatcheck.ids.redirect;

import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.ids.mapping.Resolver;
import dev.coatcheck.ids.registry.Registry;
import dev.coatcheck.postgres.sql.Database;
import java.time.InstantSource;

/**
 * The verbs of legacy IDs and of links, wired.
 *
 * @param links of public IDs, those of older systems too
 */
public record Legacy(
    LegacyLookup lookup,
    IdResolver ids,
    LegacyRedirector redirector,
    Redirector links,
    LegacyHits hits)
    implements AutoCloseable {

  public static Legacy open(
      Database database,
      Registry registry,
      Resolver resolver,
      LegacySource source,
      Observer observer,
      InstantSource clock) {
    LegacyHits hits = LegacyHits.open(database, observer, clock);
    LegacyLookup lookup = new LegacyLookup(resolver, source, hits, observer);
    ScanGuard guard = new ScanGuard(System::nanoTime);
    LegacyRedirector redirector = new LegacyRedirector(registry, lookup, guard, observer, clock);
    return new Legacy(
        lookup,
        new IdResolver(registry, resolver, lookup),
        redirector,
        new Redirector(resolver, redirector),
        hits);
  }

  /** Writes down what was counted. */
  @Override
  public void close() {
    hits.close();
  }
}
