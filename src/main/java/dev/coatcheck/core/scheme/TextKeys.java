package dev.coatcheck.core.scheme;

import java.time.Instant;
import java.util.List;

/**
 * Generates identifiers that are texts. They are not keys of types, and no column of ours stores
 * them. Thread-safe.
 */
public interface TextKeys {

  /** New identifiers for now. They rise within the process, even if the clock steps back. */
  List<String> next(int count);

  /**
   * New identifiers that carry a given time. Those of one call rise. Random bits make them unique,
   * so calls for the same time are not in order.
   *
   * @param at from {@link #first} to before {@link #end}
   */
  List<String> at(Instant at, int count);

  /** The first time that an identifier can carry. */
  Instant first();

  /** The first time after the last that an identifier can carry. */
  Instant end();
}
