package dev.coatcheck.ids.access;

import dev.coatcheck.core.name.WireNamed;
import java.time.Instant;
import java.util.Optional;

/**
 * An API key as it is stored: its hash, never its secret.
 *
 * @param keyId the public part; {@link ApiKey#shown} spells it for others
 * @param chain ID of the first key of its chain of rotations
 * @param version rises with each change
 * @param madeBy ID of the key that created or rotated this one; empty if made in the database
 * @param successor ID of the key that this one was rotated into
 */
public record StoredKey(
    String keyId,
    String chain,
    KeyHash hash,
    String name,
    String principal,
    Rights rights,
    int version,
    Optional<String> madeBy,
    Optional<String> successor,
    Instant createdAt,
    Optional<Instant> revokedAt) {

  /** Whether a key is accepted. A rotated key is active until its overlap has passed. */
  public enum Status implements WireNamed {
    ACTIVE,
    EXPIRED,
    REVOKED
  }

  public Status status(Instant now) {
    if (revokedAt.isPresent()) {
      return Status.REVOKED;
    }
    return rights.expiresAt().map(now::isBefore).orElse(true) ? Status.ACTIVE : Status.EXPIRED;
  }

  boolean isAlive(Instant now) {
    return status(now) == Status.ACTIVE;
  }

  /** The same key after a change of its name, rights or successor. */
  StoredKey changed(String newName, Rights newRights, Optional<String> newSuccessor) {
    return new StoredKey(
        keyId,
        chain,
        hash,
        newName,
        principal,
        newRights,
        version + 1,
        madeBy,
        newSuccessor,
        createdAt,
        revokedAt);
  }
}
