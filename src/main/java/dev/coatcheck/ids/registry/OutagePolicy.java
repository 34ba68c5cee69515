package dev.coatcheck.ids.registry;

import java.time.Duration;

/**
 * Whether cached public IDs of a type are served while Postgres can't be asked.
 *
 * @param staleSecondsMax how long they are served after Postgres last confirmed them
 */
public record OutagePolicy(OnOutage onOutage, int staleSecondsMax) {

  /** How long a cached ID may be served after Postgres last confirmed it. */
  public Duration staleMax() {
    return switch (onOutage) {
      case SERVE_STALE -> Duration.ofSeconds(staleSecondsMax);
      case REFUSE -> Duration.ZERO;
    };
  }
}
