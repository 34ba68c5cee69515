package dev.coatcheck.ids.mint;

import dev.coatcheck.core.id.Sha256;
import dev.coatcheck.core.id.Token;
import dev.coatcheck.core.key.Key;
import dev.coatcheck.ids.alias.Alias;
import dev.coatcheck.ids.mapping.TypedKey;
import dev.coatcheck.ids.registry.Type;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A request for one public ID.
 *
 * @param key the caller's key; empty to have one generated
 * @param aliases aliases of the public ID, which are written together with it
 * @param token of a public ID that was made elsewhere; its bucket is that of the key
 */
public record MintRequest(
    Type type, Optional<Key> key, List<Alias> aliases, Optional<Token> token) {
  public MintRequest {
    aliases = List.copyOf(aliases);
  }

  public MintRequest(Type type, Optional<Key> key, List<Alias> aliases) {
    this(type, key, aliases, Optional.empty());
  }

  public MintRequest(Type type, Optional<Key> key) {
    this(type, key, List.of());
  }

  MintRequest of(Type changed) {
    return new MintRequest(changed, key, aliases, token);
  }

  /** Whether another caller may bring the same. */
  boolean isNamed() {
    return key.isPresent() || !aliases.isEmpty();
  }

  /** Whether it brings a key whose public ID is computed, and may have ended all the same. */
  boolean bringsSealedKey() {
    return key.flatMap(type::sealingOf).isPresent();
  }

  /** Whether it brings a key that may be pinned. */
  boolean bringsClosedKey() {
    return key.filter(type::isOfClosedEra).isPresent();
  }

  public Optional<TypedKey> subject() {
    return key.map(own -> TypedKey.of(type, own));
  }

  /** The lock of a key of a type, for all that may give it a public ID. */
  public static long keyLock(Type type, Key key) {
    return lock(type, "key", key.text());
  }

  /** A lock for each name. Two names with the same lock only wait for each other needlessly. */
  List<Long> locks() {
    return Stream.concat(
            key.stream().map(own -> keyLock(type, own)),
            aliases.stream()
                .map(
                    alias ->
                        lock(
                            type,
                            alias.scheme().wireName(),
                            alias.value() + '\0' + alias.namespace().stored())))
        .toList();
  }

  private static long lock(Type type, String kind, String name) {
    return ByteBuffer.wrap(Sha256.of(kind, Integer.toString(type.number()), name)).getLong();
  }
}
