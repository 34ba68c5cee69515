package dev.coatcheck.transfer;

import dev.coatcheck.db.Database;
import dev.coatcheck.registry.Registry;
import java.time.InstantSource;

/** The verbs of this room. */
public record Transfers(Importer importer, Exporter exporter) {
  /** Wires them. */
  public static Transfers open(
      Database database, Registry registry, Importer.Settling settling, InstantSource clock) {
    return new Transfers(new Importer(database, registry, settling, clock), new Exporter(database));
  }
}
