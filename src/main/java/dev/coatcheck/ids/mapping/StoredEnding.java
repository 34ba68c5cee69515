package dev.coatcheck.ids.mapping;

import dev.coatcheck.core.id.Token;
import java.time.Instant;
import java.util.Optional;

/**
 * How a token ended.
 *
 * @param survivor what it was merged into; empty if it was revoked
 */
public record StoredEnding(
    Token token, Instant endedAt, Optional<String> reason, Optional<Token> survivor) {

  public Mapping.Status status() {
    return survivor.isPresent() ? Mapping.Status.MERGED : Mapping.Status.REVOKED;
  }

  /** The ending once {@code from} itself is merged into {@code to}. */
  public StoredEnding moved(Token from, Token to) {
    return survivor.equals(Optional.of(from))
        ? new StoredEnding(token, endedAt, reason, Optional.of(to))
        : this;
  }

  /** The row as it is after this ending. */
  public StoredMapping of(StoredMapping row) {
    return new StoredMapping(row.key(), row.token(), row.typeNumber(), row.createdAt(), status());
  }
}
