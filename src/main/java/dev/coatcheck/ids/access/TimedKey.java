package dev.coatcheck.ids.access;

import java.time.Instant;

/**
 * An API key with the time at which it was read.
 *
 * @param readAt by the clock of Postgres
 * @param readNano the same by the monotonic clock of this process, or a little earlier
 */
record TimedKey(StoredKey key, Instant readAt, long readNano) {
  boolean isAlive(long nowNano) {
    return key.isAlive(readAt.plusNanos(nowNano - readNano));
  }
}
