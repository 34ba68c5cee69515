package dev.coatcheck.client;

import dev.coatcheck.id.Key;
import dev.coatcheck.id.PublicId;
import java.time.Instant;
import java.util.Optional;
import java.util.UUID;

/**
 * A public ID and what it stands for.
 *
 * @param id the public ID
 * @param key its key; that of the survivor if the public ID was merged
 * @param createdAt when it was minted, by the database's clock, in microseconds
 * @param legacyId its number before it had a public ID, 1 to 2^63 - 1
 * @param clientId the UUID that a client made for it
 * @param clientNamespace the namespace in which the client ID is unique
 * @param <T> the type
 */
public record Mapping<T>(
    PublicId<T> id,
    Key<T> key,
    Instant createdAt,
    Optional<Long> legacyId,
    Optional<UUID> clientId,
    Optional<String> clientNamespace) {
  static <T> Mapping<T> of(PublicId<T> id, Fields answer) {
    return new Mapping<>(
        id,
        Key.parse(id.type(), answer.required("key")),
        answer.time("created_at").orElse(Instant.EPOCH),
        answer.text("legacy_id").map(Long::valueOf),
        answer.text("client_id").map(UUID::fromString),
        answer.text("client_namespace"));
  }
}
