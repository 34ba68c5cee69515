package dev.coatcheck.ids.registry;

import java.time.Duration;

/**
 * What a type's cached public IDs are worth while Postgres can't say whether they still hold.
 *
 * @param staleSecondsMax how long they are served without word from Postgres, 0 to 60
 */
public record OutagePolicy(OnOutage onOutage, int staleSecondsMax) {
  public static final int STALE_SECONDS_LIMIT = 60;
  public static final OutagePolicy DEFAULT =
      new OutagePolicy(OnOutage.SERVE_STALE, STALE_SECONDS_LIMIT);

  public OutagePolicy {
    if (staleSecondsMax < 0 || staleSecondsMax > STALE_SECONDS_LIMIT) {
      throw new IllegalArgumentException("stale for " + staleSecondsMax + " s");
    }
  }

  /** How long what is cached may be served without word from Postgres. */
  public Duration staleMax() {
    return switch (onOutage) {
      case SERVE_STALE -> Duration.ofSeconds(staleSecondsMax);
      case REFUSE -> Duration.ZERO;
    };
  }
}
