package dev.coatcheck.cluster.grant;

import dev.coatcheck.core.key.KeyOutcome;

/** The reply to a request for numbers. */
sealed interface SegmentGrant {
  /**
   * Indexes starting at {@code first}, which belong to the caller for good.
   *
   * @param count at least the requested number or the smallest step; fewer if no more are left
   */
  record Granted(SegmentDefinition definition, long first, int count) implements SegmentGrant {
    long end() {
      return first + count;
    }
  }

  record Refused(KeyOutcome.NoKeys why) implements SegmentGrant {}
}
