package dev.coatcheck.mapping;

import dev.coatcheck.id.PublicId;
import dev.coatcheck.id.Token;
import dev.coatcheck.key.Key;
import dev.coatcheck.registry.Type;
import java.time.Instant;

/** A public ID and the key that it stands for. */
public record Mapping(Type type, Key key, Token token, Instant createdAt) {

  public PublicId publicId() {
    return new PublicId(type.prefix(), token);
  }
}
