package dev.coatcheck.ids.access;

import java.security.MessageDigest;
import java.time.Instant;
import java.util.Optional;

/** An API key as it is stored: its hash, never its secret. */
public record StoredKey(
    String keyId,
    Hash hash,
    String name,
    String principal,
    Rights rights,
    Instant createdAt,
    Optional<Instant> revokedAt) {

  /** SHA-256 of the whole key. */
  static final class Hash {
    private final byte[] bytes;

    Hash(byte[] bytes) {
      this.bytes = bytes.clone();
    }

    byte[] bytes() {
      return bytes.clone();
    }

    /** Takes constant time, wherever the two hashes differ. */
    boolean matches(Hash other) {
      return MessageDigest.isEqual(bytes, other.bytes);
    }
  }

  boolean isAlive(Instant now) {
    return revokedAt.isEmpty() && rights.expiresAt().map(now::isBefore).orElse(true);
  }

  Caller caller() {
    return new Caller(keyId, principal, rights);
  }
}
