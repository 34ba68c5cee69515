package dev.coatcheck.ids.registry;

import java.time.Instant;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * What has to hold for a change of a type.
 *
 * @param version from If-Match: the version that the caller has seen
 * @param linksLiveAt the time at which links with a target keep it; empty if they may end
 */
public record PutConditions(OptionalInt version, Optional<Instant> linksLiveAt) {
  public static final PutConditions NONE = new PutConditions(OptionalInt.empty(), Optional.empty());
}
