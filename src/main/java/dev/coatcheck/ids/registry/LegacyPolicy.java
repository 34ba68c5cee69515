package dev.coatcheck.ids.registry;

import java.time.Instant;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;

/**
 * How {@code /legacy/{type}/{n}} answers for a type.
 *
 * @param status 301 or 308
 * @param isPublic whether anyone may ask; otherwise every number looks unknown
 * @param maxId numbers above it were never given and are refused unasked; empty: no limit
 * @param deprecatedAt when the numbers stopped being the way to ask; whole seconds
 * @param sunsetAt from when on they are gone, not before {@code deprecatedAt}; whole seconds
 * @param maxAgeSeconds how long a cache may keep the redirect, 0 to 31,536,000
 */
public record LegacyPolicy(
    int status,
    boolean isPublic,
    OptionalLong maxId,
    Optional<Instant> deprecatedAt,
    Optional<Instant> sunsetAt,
    int maxAgeSeconds) {
  public static final Set<Integer> STATUSES = Set.of(301, 308);
  public static final int MAX_AGE_SECONDS_MAX = Redirect.MAX_AGE_SECONDS_MAX;

  public LegacyPolicy {
    if (!STATUSES.contains(status) || maxAgeSeconds < 0 || maxAgeSeconds > MAX_AGE_SECONDS_MAX) {
      throw new IllegalArgumentException("status " + status + ", max age " + maxAgeSeconds);
    }
    if (!isInOrder(deprecatedAt, sunsetAt)) {
      throw new IllegalArgumentException("sunset at " + sunsetAt + ", before " + deprecatedAt);
    }
  }

  /** Whether the sunset is not before the deprecation, where there are both. */
  public static boolean isInOrder(Optional<Instant> deprecatedAt, Optional<Instant> sunsetAt) {
    return deprecatedAt.isEmpty()
        || sunsetAt.isEmpty()
        || !sunsetAt.get().isBefore(deprecatedAt.get());
  }

  /** Whether the numbers are gone. */
  public boolean isOver(Instant now) {
    return sunsetAt.filter(sunset -> !now.isBefore(sunset)).isPresent();
  }
}
