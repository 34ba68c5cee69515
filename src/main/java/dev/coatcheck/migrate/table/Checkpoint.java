package dev.coatcheck.migrate.table;

/**
 * How far a backfill has come. A <i>position</i> is {@code milliseconds << 12 | n}, a key without
 * its worker: positions only rise.
 *
 * @param highId H, the highest legacy ID that was there before the triggers
 * @param t0Millis T0, when the triggers came, since the epoch of the layout: no position reaches it
 * @param lastId all rows up to it have a key, but for those that were set aside
 * @param lastPosition the greatest position given
 */
public record Checkpoint(
    long highId, long t0Millis, long lastPosition, long lastId, Counts counts) {

  /**
   * Rows so far.
   *
   * @param done that got a key
   * @param timesLost whose time of creation did not count
   * @param beforeEpoch that are older than the layout's epoch, and have the oldest keys
   * @param setAside that wait to be filled by a retry
   */
  public record Counts(long done, long timesLost, long beforeEpoch, long setAside) {}

  public boolean isAtEnd() {
    return lastId >= highId;
  }
}
