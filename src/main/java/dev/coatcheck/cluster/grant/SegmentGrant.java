package dev.coatcheck.cluster.grant;

import dev.coatcheck.core.key.KeyDraw;

/** The reply to a request for numbers. */
sealed interface SegmentGrant {
  /**
   * Indexes from {@code first} on, which belong to the asker for good.
   *
   * @param count as many as asked for or the smallest step, or all that were left
   */
  record Granted(SegmentDefinition definition, long first, int count) implements SegmentGrant {
    long end() {
      return first + count;
    }
  }

  record Refused(KeyDraw.NoKeys why) implements SegmentGrant {}
}
