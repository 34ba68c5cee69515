package dev.coatcheck.ids.registry;

import dev.coatcheck.core.key.Key;
import dev.coatcheck.core.key.KeyKind;
import java.util.OptionalLong;

/**
 * The auto-increment number of a row before its Snowflake key: 1 to 2^63 - 1, spelled in one way
 * only.
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
