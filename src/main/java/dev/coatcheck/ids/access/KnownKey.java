package dev.coatcheck.ids.access;

import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What a request needs of an API key. One small object, because very many are cached, and each
 * further place in memory that a request visits takes it up to 0.2 µs.
 */
final class KnownKey {
  /** The end of keys that never expire, or later than in a century. */
  private static final long NEVER = Long.MAX_VALUE;

  private static final Duration CENTURY = Duration.ofDays(100 * 365);

  private final String keyId;
  private final String chain;
  private final String principal;
  private final Rights rights;
  private final long hash0;
  private final long hash1;
  private final long hash2;
  private final long hash3;

  /** By the monotonic clock of this process. */
  private final long endNano;

  /** Whether it was used since its uses were last written. */
  private volatile boolean isUsed;

  /**
   * @param caller who holds it; keys with equal rights should share them
   * @param left until it ends, by the clock of Postgres; negative if it has ended, empty: for good
   * @param readNano when {@code left} was right, by the monotonic clock; may be a little earlier
   */
  KnownKey(Caller caller, KeyHash hash, Optional<Duration> left, long readNano) {
    this.keyId = caller.keyId();
    this.chain = caller.chain();
    this.principal = caller.principal();
    this.rights = caller.rights();
    this.hash0 = hash.first();
    this.hash1 = hash.second();
    this.hash2 = hash.third();
    this.hash3 = hash.fourth();
    this.endNano =
        left.filter(time -> time.compareTo(CENTURY) < 0)
            .map(time -> time.isNegative() ? readNano : readNano + time.toNanos())
            .orElse(NEVER);
  }

  String keyId() {
    return keyId;
  }

  boolean isAlive(long nowNano) {
    return endNano == NEVER || nowNano - endNano < 0;
  }

  boolean matches(KeyHash shown) {
    return shown.matches(new KeyHash(hash0, hash1, hash2, hash3));
  }

  /** Returns whether it was unused until now; two threads at the same time may both be told so. */
  boolean markUsed() {
    if (isUsed) {
      return false;
    }
    isUsed = true;
    return true;
  }

  void markUnused() {
    isUsed = false;
  }

  Caller caller() {
    return new Caller(keyId, chain, principal, rights);
  }

  @Override
  public boolean equals(@Nullable Object o) {
    return o instanceof KnownKey other
        && keyId.equals(other.keyId)
        && chain.equals(other.chain)
        && principal.equals(other.principal)
        && rights.equals(other.rights)
        && other.matches(new KeyHash(hash0, hash1, hash2, hash3))
        && endNano == other.endNano;
  }

  @Override
  public int hashCode() {
    return Objects.hash(keyId, endNano);
  }
}
