package dev.coatcheck.bulk.load;

import dev.coatcheck.bulk.export.Exporter;
import dev.coatcheck.ids.registry.Registry;
import dev.coatcheck.postgres.sql.Database;
import dev.coatcheck.postgres.sql.DatabaseSettings;
import java.time.InstantSource;

/** The verbs of this room. */
public record Transfers(Importer importer, KeyedImporter keyedImporter, Exporter exporter) {
  /** Wires them. */
  public static Transfers open(
      Database database,
      DatabaseSettings settings,
      Registry registry,
      Importer.Settling settling,
      InstantSource clock) {
    Importer importer = new Importer(settings, registry, settling, clock);
    return new Transfers(
        importer,
        new KeyedImporter(importer, database),
        new Exporter(settings, settling.observer()));
  }
}
