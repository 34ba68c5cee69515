package dev.coatcheck.migrate.backfill;

/**
 * How far a backfill has come. A <i>place</i> is {@code milliseconds << 12 | n}, a key without its
 * worker: places only rise.
 *
 * @param highId H, the highest legacy ID that was there before the triggers
 * @param t0Millis T0, when the triggers came, since the epoch of the layout: no place reaches it
 * @param lastId all rows up to it have a key, but for ranges that were set aside
 * @param lastPlace the greatest place given
 * @param rowsDone keys given
 */
public record Checkpoint(
    long highId, long t0Millis, long firstPlace, long lastPlace, long lastId, long rowsDone) {

  public boolean isAtEnd() {
    return lastId >= highId;
  }
}
