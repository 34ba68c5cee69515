package dev.coatcheck.ids.redirect;

import dev.coatcheck.ids.access.AllowedTypes;
import dev.coatcheck.ids.mapping.IdParser;
import dev.coatcheck.ids.mapping.MappingFixture;
import dev.coatcheck.ids.mapping.OlderId;
import dev.coatcheck.ids.mapping.ResolveOutcome;
import dev.coatcheck.ids.mapping.UnmappedRows;
import dev.coatcheck.ids.registry.RedirectHosts;
import java.net.InetAddress;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;

/** The verbs of legacy IDs, with counts of their own. */
public record LegacyFixture(
    LegacyHits hits, LegacyCallers callers, IdResolver ids, Redirector redirector)
    implements AutoCloseable {
  static final LegacyCaller CALLER =
      new LegacyCaller(
          Optional.of("2bN8Qx0LmT4a"),
          _ -> List.of(),
          () -> Visitor.at(InetAddress.ofLiteral("192.0.2.7")));

  public static LegacyFixture open(MappingFixture gateway, UnmappedRows rows, InstantSource clock) {
    return open(gateway, rows, RedirectHosts.any(), clock);
  }

  static LegacyFixture open(
      MappingFixture gateway, UnmappedRows rows, RedirectHosts hosts, InstantSource clock) {
    IdParser parser = new IdParser(gateway.registry);
    LegacyHits hits = LegacyHits.open(gateway.database, gateway.observer, clock);
    LegacyCallers callers = LegacyCallers.open(gateway.database, gateway.observer, clock);
    IdResolver ids =
        new IdResolver(
            parser, gateway.resolver, rows, hits, callers, gateway.observer, clock, true);
    return new LegacyFixture(
        hits,
        callers,
        ids,
        new Redirector(
            gateway.registry,
            parser,
            gateway.resolver,
            ids,
            hosts,
            gateway.observer::observe,
            clock,
            AllowedTypes.ALL));
  }

  /** A caller without an API key, at an address. */
  static LegacyCaller visitor(String address) {
    return new LegacyCaller(
        Optional.empty(), _ -> List.of(), () -> Visitor.at(InetAddress.ofLiteral(address)));
  }

  /** Looks an older ID up for a caller with an API key. */
  public ResolveOutcome find(OlderId id) {
    return resolved(ids.find(id, CALLER));
  }

  static ResolveOutcome resolved(IdOutcome outcome) {
    return ((IdOutcome.Resolved) outcome).outcome();
  }

  @Override
  public void close() {
    callers.close();
    hits.close();
  }
}
