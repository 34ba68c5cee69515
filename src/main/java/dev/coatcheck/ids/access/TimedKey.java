package dev.coatcheck.ids.access;

import java.time.Instant;

/** An API key with the time at which it was read. */
final class TimedKey {
  private final StoredKey key;
  private final Instant readAt;
  private final long readNano;

  /** The last one in which a use was noted; of {@link KeyUses}. */
  private int round;

  /**
   * @param readAt by the clock of Postgres
   * @param readNano the same by the monotonic clock of this process, or a little earlier
   */
  TimedKey(StoredKey key, Instant readAt, long readNano) {
    this.key = key;
    this.readAt = readAt;
    this.readNano = readNano;
  }

  StoredKey key() {
    return key;
  }

  /** The time is asked only for a key that expires. */
  boolean isAlive(long nowNano) {
    return key.rights().expiresAt().isEmpty()
        ? key.revokedAt().isEmpty()
        : key.isAlive(readAt.plusNanos(nowNano - readNano));
  }

  /**
   * Whether this is the first use in a round. Of uses at the same time several may be the first.
   */
  boolean isFirstUseIn(int now) {
    if (round == now) {
      return false; // and nothing is written, which would cost as much as all the rest
    }
    round = now;
    return true;
  }
}
