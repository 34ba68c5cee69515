package dev.coatcheck.ids.mapping;

import dev.coatcheck.core.id.Token;
import dev.coatcheck.core.key.Key;
import dev.coatcheck.ids.registry.Type;
import java.time.Instant;

/**
 * A row, which is also what the cache holds: it names its type by number only, so that a changed
 * type takes effect on rows that are cached already.
 */
public record StoredMapping(
    Key key, Token token, int typeNumber, Instant createdAt, Mapping.Status status) {
  public TypedKey subject() {
    return new TypedKey(typeNumber, key, token.bucket());
  }

  public boolean isActive() {
    return status == Mapping.Status.ACTIVE;
  }

  /** Whether it has lost its key: {@link #key} is one that no row can have. */
  public boolean isErased() {
    return status == Mapping.Status.ERASED;
  }

  public TypedToken id() {
    return new TypedToken(typeNumber, token);
  }

  public Mapping of(Type type) {
    return new Mapping(type, key, token, createdAt, status);
  }
}
