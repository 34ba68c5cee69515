package dev.coatcheck.ids.mapping;

import dev.coatcheck.core.id.Token;
import dev.coatcheck.core.key.Key;
import dev.coatcheck.core.seal.SealKeyMissing;
import dev.coatcheck.core.seal.Sealing;
import dev.coatcheck.ids.registry.Type;
import java.time.Instant;
import java.util.Optional;

/**
 * A row, which is also what the cache holds: it names its type by number only, so that a changed
 * type takes effect on rows that are cached already. A sealed mapping is computed as if it were a
 * row.
 */
public record StoredMapping(
    Key key, Token token, int typeNumber, Instant createdAt, Mapping.Status status) {
  /**
   * The mapping of a key that is sealed, as it is unless a row says otherwise; empty if the key has
   * a row, or none at all yet.
   *
   * @throws SealKeyMissing if this instance lacks the seal key
   */
  public static Optional<StoredMapping> sealed(Type type, Key key) {
    return type.sealingOf(key)
        .map(
            sealing -> {
              long value = ((Key.Bigint) key).value();
              Token token =
                  sealing
                      .seal(value)
                      .orElseThrow(() -> new SealKeyMissing(sealing.eraOf(value).fingerprint()));
              return sealed(type, key, token, sealing.timeOf(value));
            });
  }

  /** The mapping of a token that opens as a sealed one of the type; empty for any other. */
  public static Optional<StoredMapping> opened(Type type, Token token) {
    return type.sealing()
        .flatMap(
            sealing ->
                sealing.open(token) instanceof Sealing.Opened.OfKey(long key)
                    ? Optional.of(opened(type, sealing, key, token))
                    : Optional.empty());
  }

  /** The mapping of a key and its token, which are known to belong together. */
  public static StoredMapping opened(Type type, Sealing sealing, long key, Token token) {
    return sealed(type, new Key.Bigint(key), token, sealing.timeOf(key));
  }

  private static StoredMapping sealed(Type type, Key key, Token token, Instant time) {
    return new StoredMapping(key, token, type.number(), time, Mapping.Status.ACTIVE);
  }

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
