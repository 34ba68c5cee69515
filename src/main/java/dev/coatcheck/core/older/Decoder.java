package dev.coatcheck.core.older;

import java.util.Optional;

/**
 * The rule by which an older system made texts of numbers or UUIDs. Such a text hides nothing: the
 * same rule reads it.
 */
public sealed interface Decoder permits Hashids, Sqids, TypeIds, Uuids {
  /** Texts that are longer are never decoded. */
  int TEXT_LENGTH_MAX = 255;

  /**
   * Reads any text, in time bounded by {@link #lengthMax}.
   *
   * @return empty unless the rule makes exactly this text of the number or UUID
   */
  Optional<Decoded> decode(String text);

  /** The name of the scheme in requests, answers and the database. */
  String scheme();

  /** What all its texts begin with. */
  String prefix();

  /** The characters that may follow the prefix. */
  Alphabet alphabet();

  /** The least number of characters after the prefix. */
  int lengthMin();

  /** The greatest number of characters after the prefix. */
  int lengthMax();
}
