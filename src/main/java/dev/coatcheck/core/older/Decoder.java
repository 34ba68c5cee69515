package dev.coatcheck.core.older;

import java.util.Optional;

/**
 * The rule by which an older system encoded numbers or UUIDs as texts. Such a text hides nothing:
 * the same rule decodes it.
 */
public sealed interface Decoder permits Hashids, Sqids, TypeIds, Uuids {
  /** Longer texts are never decoded. */
  int TEXT_LENGTH_MAX = 255;

  /**
   * Decodes any text, in time bounded by the greatest length of its {@link #shape}.
   *
   * @return empty unless the rule encodes the number or the UUID as exactly this text
   */
  Optional<Decoded> decode(String text);

  /** The name of the scheme in requests, answers and the database. */
  String scheme();

  /** What all texts of the rule look like. */
  TextShape shape();
}
