package dev.coatcheck.ids.mapping;

import java.time.Instant;
import java.util.Optional;

/**
 * How a public ID ended.
 *
 * @param survivor what it was merged into, of the same type; empty if it was revoked
 */
public record StoredEnding(
    TypedToken id, Instant endedAt, Optional<String> reason, Optional<TypedToken> survivor) {

  public Mapping.Status status() {
    return survivor.isPresent() ? Mapping.Status.MERGED : Mapping.Status.REVOKED;
  }

  /** The ending once {@code from} itself is merged into {@code to}. */
  public StoredEnding moved(TypedToken from, TypedToken to) {
    return survivor.equals(Optional.of(from))
        ? new StoredEnding(id, endedAt, reason, Optional.of(to))
        : this;
  }

  /** The row as it is after this ending. */
  public StoredMapping of(StoredMapping row) {
    return new StoredMapping(row.key(), row.token(), row.typeNumber(), row.createdAt(), status());
  }
}
