package dev.coatcheck.migrate.source;

import java.util.Locale;

/** The configuration of this instance doesn't contain the source of a run. */
public final class SourceUnregistered extends RuntimeException {
  SourceUnregistered(String name) {
    super(
        "The source %s of this run is not registered at this gateway. Set COATCHECK_SOURCE_%s_URL,"
                .formatted(name, name.toUpperCase(Locale.ROOT))
            + " and start the gateway again.");
  }
}
