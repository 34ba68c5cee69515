package dev.coatcheck.ids.redirect;

import dev.coatcheck.ids.mapping.IdParser;
import dev.coatcheck.ids.mapping.MappingFixture;
import dev.coatcheck.ids.mapping.UnmappedRows;
import java.time.InstantSource;

/** The verbs of legacy IDs, with counts of their own. */
public record LegacyFixture(LegacyHits hits, IdResolver ids, Redirector redirector)
    implements AutoCloseable {

  public static LegacyFixture open(MappingFixture gateway, UnmappedRows rows, InstantSource clock) {
    IdParser parser = new IdParser(gateway.registry);
    LegacyHits hits = LegacyHits.open(gateway.database, gateway.observer, clock);
    IdResolver ids = new IdResolver(parser, gateway.resolver, rows, hits, gateway.observer);
    return new LegacyFixture(
        hits,
        ids,
        new Redirector(gateway.registry, parser, gateway.resolver, ids, gateway.observer, clock));
  }

  @Override
  public void close() {
    hits.close();
  }
}
