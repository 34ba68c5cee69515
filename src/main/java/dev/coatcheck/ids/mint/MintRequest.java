package dev.coatcheck.ids.mint;

import dev.coatcheck.core.key.Key;
import dev.coatcheck.ids.mapping.Alias;
import dev.coatcheck.ids.mapping.TypedKey;
import dev.coatcheck.ids.registry.Type;
import java.util.List;
import java.util.Optional;

/**
 * One public ID wanted.
 *
 * @param key the caller's key; empty to have one generated
 * @param aliases other names of the same thing, which are written together with it
 */
public record MintRequest(Type type, Optional<Key> key, List<Alias> aliases) {
  public MintRequest {
    aliases = List.copyOf(aliases);
  }

  public MintRequest(Type type, Optional<Key> key) {
    this(type, key, List.of());
  }

  /** Whether somebody else may bring the same. */
  boolean isNamed() {
    return key.isPresent() || !aliases.isEmpty();
  }

  public Optional<TypedKey> subject() {
    return key.map(own -> TypedKey.of(type, own));
  }
}
