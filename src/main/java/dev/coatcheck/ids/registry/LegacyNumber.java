package dev.coatcheck.ids.registry;

import dev.coatcheck.core.key.Key;
import dev.coatcheck.core.key.KeyKind;
import java.util.OptionalLong;

/**
 * A legacy ID that is a number: the auto-increment ID of a row, 1 to 2^63 - 1, in its canonical
 * spelling only.
 */
public final class LegacyNumber {
  private LegacyNumber() {}

  /** Accepts ASCII digits without sign or leading zero; empty for any other text. */
  public static OptionalLong parse(String text) {
    return KeyKind.BIGINT.parse(text).stream()
        .mapToLong(key -> ((Key.Bigint) key).value())
        .filter(number -> number > 0)
        .findFirst();
  }
}
