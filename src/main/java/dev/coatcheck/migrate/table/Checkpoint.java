package dev.coatcheck.migrate.table;

/**
 * The progress of a backfill. A <i>position</i> is {@code milliseconds << 12 | n}, a key without
 * its worker. Positions only rise.
 *
 * @param highId H, the highest legacy ID before the triggers existed
 * @param t0Millis T0, the time when the triggers were created, since the epoch of the layout; all
 *     positions are below it
 * @param lastId all rows up to it have a key, except those set aside
 * @param lastPosition the greatest position so far
 */
public record Checkpoint(
    long highId, long t0Millis, long lastPosition, long lastId, Counts counts) {

  /**
   * Numbers of rows so far.
   *
   * @param done with a key
   * @param timesLost whose creation time was not used
   * @param beforeEpoch older than the layout's epoch; they have the lowest keys
   * @param setAside to be filled by a retry
   */
  public record Counts(long done, long timesLost, long beforeEpoch, long setAside) {}

  public boolean isAtEnd() {
    return lastId >= highId;
  }
}
