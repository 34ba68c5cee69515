package dev.coatcheck.app.boot;

import dev.coatcheck.cluster.change.ChangeFeed;
import dev.coatcheck.ids.registry.OnOutage;
import dev.coatcheck.ids.registry.Registry;
import dev.coatcheck.ids.registry.Type;
import dev.coatcheck.postgres.connection.HealthConnection;
import java.time.Duration;

/**
 * Whether this instance has something to answer with: Postgres, or what it still may serve from
 * memory. A pool that is full doesn't count: traffic that is sent elsewhere would fill the next
 * one.
 */
record Readiness(HealthConnection postgres, ChangeFeed feed, Registry registry) {
  boolean isReady() {
    return feed.silent().compareTo(staleMax()) <= 0 || postgres.isAnswered();
  }

  /** For how long a type may be served without word from Postgres. */
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
