package dev.coatcheck.ids.registry;

import java.time.Duration;

/**
 * What a type's cached public IDs are worth while Postgres can't say whether they still hold.
 *
 * @param staleSecondsMax how long they are served without word from Postgres
 */
public record OutagePolicy(OnOutage onOutage, int staleSecondsMax) {

  /** How long what is cached may be served without word from Postgres. */
  public Duration staleMax() {
    return switch (onOutage) {
      case SERVE_STALE -> Duration.ofSeconds(staleSecondsMax);
      case REFUSE -> Duration.ZERO;
    };
  }
}
