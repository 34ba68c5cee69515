package dev.coatcheck.core.scheme;

import java.time.Instant;
import java.util.List;

/**
 * Makes identifiers that are texts and no keys of types: no column of ours holds them. Safe for any
 * number of threads.
 */
public interface TextKeys {

  /** New identifiers of the present, rising within the process, whatever its clock does. */
  List<String> next(int count);

  /**
   * New identifiers that carry a given time; those of one call rise. Unique by their random bits,
   * so calls for the same time are in no order.
   *
   * @param at within {@link #first} and {@link #end}
   */
  List<String> at(Instant at, int count);

  /** The first time that such an identifier can carry. */
  Instant first();

  /** The first time that it can no longer carry. */
  Instant end();
}
