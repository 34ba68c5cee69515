package dev.coatcheck.app.boot;

import dev.coatcheck.cluster.change.ChangeFeed;
import dev.coatcheck.ids.registry.OnOutage;
import dev.coatcheck.ids.registry.Registry;
import dev.coatcheck.ids.registry.Type;
import dev.coatcheck.postgres.connection.HealthConnection;
import java.time.Duration;

/**
 * Whether this instance can answer requests: with Postgres, or from memory while stale values may
 * be served. An instance with a full pool is still ready: otherwise its traffic would go to another
 * instance, and fill the pool there.
 */
record Readiness(HealthConnection postgres, ChangeFeed feed, Registry registry) {
  boolean isReady() {
    return feed.silent().compareTo(staleMax()) <= 0 || postgres.isAnswered();
  }

  /** The longest time that a type may be served stale. */
  private Duration staleMax() {
    return Duration.ofSeconds(
        registry.all().stream()
            .map(Type::outage)
            .filter(outage -> outage.onOutage() == OnOutage.SERVE_STALE)
            .mapToInt(outage -> outage.staleSecondsMax())
            .max()
            .orElse(0));
  }
}
