package dev.coatcheck.ids.registry;

import java.time.Instant;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * What has to hold for a change of a type.
 *
 * @param version from If-Match: the version that the caller has seen
 * @param linksLiveAt refuse the change if it ends links that work at this time; empty to allow that
 */
public record PutConditions(OptionalInt version, Optional<Instant> linksLiveAt) {
  public static final PutConditions NONE = new PutConditions(OptionalInt.empty(), Optional.empty());
}
