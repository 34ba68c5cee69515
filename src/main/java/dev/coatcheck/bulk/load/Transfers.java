package dev.coatcheck.bulk.load;

import dev.coatcheck.bulk.export.Exporter;
import dev.coatcheck.ids.registry.Registry;
import dev.coatcheck.postgres.connection.DatabaseSettings;
import dev.coatcheck.postgres.sql.Database;
import java.time.InstantSource;

/** The verbs of this room. */
public record Transfers(Importer importer, Exporter exporter) {
  /** Wires them. */
  public static Transfers open(
      Database database,
      DatabaseSettings settings,
      Registry registry,
      Importer.MintingTools tools,
      InstantSource clock) {
    return new Transfers(
        new Importer(database, settings, registry, tools, clock),
        new Exporter(settings, tools.observer()));
  }
}
