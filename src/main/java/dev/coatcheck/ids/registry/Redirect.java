package dev.coatcheck.ids.registry;

import java.util.Set;

/**
 * Where {@code /r/{id}} leads for a type.
 *
 * @param status 301, 302, 307 or 308
 * @param maxAgeSeconds how long a cache may keep the redirect, 0 to 31,536,000
 * @param isPublic whether anyone may follow it; otherwise it looks like an unknown ID
 * @param exposeKey whether the internal key may appear in a public redirect
 */
public record Redirect(
    RedirectTemplate template, int status, int maxAgeSeconds, boolean isPublic, boolean exposeKey) {
  public static final Set<Integer> STATUSES = Set.of(301, 302, 307, 308);
  public static final int MAX_AGE_SECONDS_MAX = 31_536_000;

  public Redirect {
    if (!STATUSES.contains(status) || maxAgeSeconds < 0 || maxAgeSeconds > MAX_AGE_SECONDS_MAX) {
      throw new IllegalArgumentException("status " + status + ", max age " + maxAgeSeconds);
    }
    if (isPublic && !exposeKey && template.usesKey()) {
      throw new IllegalArgumentException("a public redirect would publish the internal key");
    }
  }
}
