package dev.coatcheck.api.routes.access;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import dev.coatcheck.ids.redirect.Visitor;
import java.time.Duration;
import java.util.OptionalInt;
import java.util.function.LongSupplier;

/**
 * How many calls an address may make in an hour that begins with its first call. Local to this
 * instance. Beyond {@value #ADDRESSES_MAX} addresses the quietest ones are forgotten.
 */
final class HourlyQuota {
  private static final int ADDRESSES_MAX = 100_000;
  private static final Duration HOUR = Duration.ofHours(1);

  private final int callsMax;
  private final LongSupplier nanoTime;
  private final Cache<Visitor, Hour> hours;

  private record Hour(long beganNano, int calls) {}

  HourlyQuota(int callsMax, LongSupplier nanoTime) {
    this.callsMax = callsMax;
    this.nanoTime = nanoTime;
    this.hours =
        Caffeine.newBuilder()
            .maximumSize(ADDRESSES_MAX)
            .expireAfterWrite(HOUR)
            .ticker(nanoTime::getAsLong)
            .executor(Runnable::run)
            .build();
  }

  /** Counts a call; the seconds to wait if it is one too many. */
  OptionalInt refusedForSeconds(Visitor visitor) {
    long now = nanoTime.getAsLong();
    Hour hour =
        hours
            .asMap()
            .compute(
                visitor,
                (_, known) ->
                    known == null || now - known.beganNano() >= HOUR.toNanos()
                        ? new Hour(now, 1)
                        : new Hour(known.beganNano(), Math.min(known.calls(), callsMax) + 1));
    Duration left = HOUR.minusNanos(now - hour.beganNano());
    return hour.calls() <= callsMax
        ? OptionalInt.empty()
        : OptionalInt.of((int) left.toSeconds() + 1);
  }
}
