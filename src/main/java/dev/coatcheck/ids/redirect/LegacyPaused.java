package dev.coatcheck.ids.redirect;

import dev.coatcheck.ids.redirect.RedirectOutcome.Notice;
import dev.coatcheck.ids.registry.Brownout;
import dev.coatcheck.ids.registry.LegacyPolicy;
import java.time.Instant;

/**
 * A brownout of the type's legacy IDs, whether or not this was one. The database was not asked.
 *
 * @param secondsLeft how long it still lasts, at least 1
 */
public record LegacyPaused(Brownout brownout, int secondsLeft, Notice notice)
    implements IdOutcome, RedirectOutcome.Refused {

  static LegacyPaused of(Brownout brownout, LegacyPolicy policy, Instant now) {
    return new LegacyPaused(brownout, brownout.secondsLeft(now), Notice.of(policy));
  }
}
