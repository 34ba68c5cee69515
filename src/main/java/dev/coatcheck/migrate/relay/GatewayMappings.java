package dev.coatcheck.migrate.relay;

import dev.coatcheck.bulk.load.LegacyKeyWriter;
import dev.coatcheck.core.id.TokenSource;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.ids.registry.Registry;
import dev.coatcheck.ids.registry.Type;
import dev.coatcheck.migrate.source.Source;
import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.migrate.table.Outbox;
import dev.coatcheck.postgres.sql.Database;

/** The gateway's side of every run: its database, and the writers of its mappings. */
public record GatewayMappings(
    Database database, Registry registry, TokenSource tokens, Observer observer) {

  public LegacyKeyWriter writer(int typeNumber) {
    return new LegacyKeyWriter(type(typeNumber), tokens, observer);
  }

  public Outbox outbox(Source source, Target target, int typeNumber) {
    return new Outbox(source.database(), database, source.isGateway(), target, writer(typeNumber));
  }

  public Type type(int number) {
    return registry.numbered(number).orElseThrow();
  }
}
