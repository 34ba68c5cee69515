package dev.coatcheck.ids.redirect;

import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.ids.mapping.Resolver;
import dev.coatcheck.ids.registry.Registry;
import dev.coatcheck.postgres.sql.Database;
import java.time.InstantSource;

/** The verbs of legacy IDs, wired. */
public record Legacy(LegacyLookup lookup, LegacyRedirector redirector, LegacyHits hits)
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
    return new Legacy(lookup, new LegacyRedirector(registry, lookup, guard, observer, clock), hits);
  }

  /** Writes down what was counted. */
  @Override
  public void close() {
    hits.close();
  }
}
