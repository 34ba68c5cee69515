package dev.coatcheck.migrate.run;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Optional;

/**
 * When the primary key may move.
 *
 * @param notBefore at once, if empty
 * @param notAfter the switch isn't begun later; any time, if empty
 */
public record SwitchWindow(Optional<Instant> notBefore, Optional<Instant> notAfter) {
  public static final SwitchWindow ANY_TIME = new SwitchWindow(Optional.empty(), Optional.empty());

  /** Why a switch would have to wait, in words. */
  public Optional<String> waitsAt(Instant now) {
    return notBefore
        .filter(now::isBefore)
        .map(opens -> "The switch waits until its time window opens at " + opens + ".");
  }

  public String text() {
    return notBefore.map(opens -> "not before " + opens).orElse("at once")
        + notAfter.map(closes -> ", not after " + closes).orElse("");
  }

  /** Before indexes are built for nothing. */
  Optional<ActionOutcome> refusalAt(Instant now) {
    return notAfter
        .filter(now::isAfter)
        .map(
            closes ->
                new ActionOutcome.NotNow(
                    RunState.DONE,
                    "The time window is over: it is "
                        + now.truncatedTo(ChronoUnit.SECONDS)
                        + ", and the switch was to begin not after "
                        + closes
                        + "."));
  }

  public boolean isOverAt(Instant now) {
    return refusalAt(now).isPresent();
  }
}
