package dev.coatcheck.bulk.load;

import dev.coatcheck.core.key.KeyOutcome;

/** There are no keys now for rows that bring none; nothing of their chunk was written. */
final class KeysUnavailable extends RuntimeException {
  private final transient KeyOutcome.NoKeys why;

  KeysUnavailable(KeyOutcome.NoKeys why) {
    super("no keys", null, false, false);
    this.why = why;
  }

  KeyOutcome.NoKeys why() {
    return why;
  }
}
