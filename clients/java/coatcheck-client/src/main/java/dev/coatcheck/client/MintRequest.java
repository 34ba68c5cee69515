package dev.coatcheck.client;

import dev.coatcheck.id.Key;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A public ID to mint. With a key, a legacy ID or a client ID it has a name: minted again, it is
 * the same public ID.
 *
 * @param type the type, a class with {@link dev.coatcheck.id.PublicIdType}
 * @param key the key of a row that exists; empty for a new key, if the type generates keys
 * @param legacyId the row's number before it had a public ID, 1 to 2^63 - 1
 * @param clientId a UUID that a client made, perhaps offline
 * @param clientNamespace the channel, user or device in which the client ID is unique: 1 to 64
 *     visible ASCII characters. A service that mints for many users always gives one
 * @param <T> the type
 */
public record MintRequest<T>(
    Class<T> type,
    Optional<Key<T>> key,
    Optional<Long> legacyId,
    Optional<UUID> clientId,
    Optional<String> clientNamespace) {
  /**
   * A new public ID with a new key.
   *
   * @param type a class with {@link dev.coatcheck.id.PublicIdType}
   * @param <T> that class
   * @return a request without names
   */
  public static <T> MintRequest<T> of(Class<T> type) {
    return new MintRequest<>(
        type, Optional.empty(), Optional.empty(), Optional.empty(), Optional.empty());
  }

  /**
   * The public ID of a row that exists.
   *
   * @param key its key
   * @param <T> a class with {@link dev.coatcheck.id.PublicIdType}
   * @return a request with one name
   */
  public static <T> MintRequest<T> of(Key<T> key) {
    return new MintRequest<>(
        key.type(), Optional.of(key), Optional.empty(), Optional.empty(), Optional.empty());
  }

  /**
   * The same with the row's number of before.
   *
   * @param number 1 to 2^63 - 1
   * @return another request
   */
  public MintRequest<T> withLegacyId(long number) {
    return new MintRequest<>(type, key, Optional.of(number), clientId, clientNamespace);
  }

  /**
   * The same with a UUID that a client made.
   *
   * @param id the UUID
   * @param namespace the channel, user or device that made it, 1 to 64 visible ASCII characters
   * @return another request
   */
  public MintRequest<T> withClientId(UUID id, String namespace) {
    return new MintRequest<>(type, key, legacyId, Optional.of(id), Optional.of(namespace));
  }

  boolean isNamed() {
    return key.isPresent() || legacyId.isPresent() || clientId.isPresent();
  }

  Map<String, @Nullable Object> toJson(String typeName) {
    Map<String, @Nullable Object> json = new LinkedHashMap<>();
    json.put("type", typeName);
    json.put("key", key.map(Key::text).orElse(null));
    json.put("legacy_id", legacyId.map(Object::toString).orElse(null));
    json.put("client_id", clientId.map(UUID::toString).orElse(null));
    json.put("client_namespace", clientNamespace.orElse(null));
    return json;
  }
}
