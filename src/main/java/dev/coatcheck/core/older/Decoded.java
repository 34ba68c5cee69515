package dev.coatcheck.core.older;

import dev.coatcheck.core.key.Key;

/** The content of a public ID of an older system. */
public sealed interface Decoded {

  /**
   * A number, which was the key in the older system.
   *
   * @param value 0 to 2^63 - 1
   */
  record OfNumber(long value) implements Decoded {}

  /** A UUID of any version. */
  record OfUuid(Key.Uuid key) implements Decoded {}
}
