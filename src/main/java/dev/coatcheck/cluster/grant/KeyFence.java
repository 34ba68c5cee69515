package dev.coatcheck.cluster.grant;

import dev.coatcheck.postgres.sql.Database;

/**
 * Refuses grants on a primary that may not know all earlier ones, until an operator says how many
 * the lost ones can be.
 */
public final class KeyFence {
  /** More than any outage can have lost, and far from the end of a bigint. */
  public static final int ADVANCE_MAX = 1_000_000_000;

  /** As many as one call can ask for in one millisecond. */
  public static final int DATED_ADVANCE_DEFAULT = 16_384;

  private final Database database;

  public KeyFence(Database database) {
    this.database = database;
  }

  /**
   * The state after the fence was lifted.
   *
   * @param wasClosed whether grants were refused before
   * @param segmentAdvance how many numbers of each segment were ever skipped
   * @param datedAdvance how many keys of each millisecond were ever skipped
   */
  public record Lifted(boolean wasClosed, long segmentAdvance, long datedAdvance) {}

  /**
   * Grants from now on, on this primary, and skips what lost grants may have taken. Lifting a fence
   * that is not closed only skips.
   *
   * @param segmentAdvance in each segment, 0 to {@link #ADVANCE_MAX}
   * @param datedAdvance in each millisecond of each layout, 0 to {@link #ADVANCE_MAX}
   */
  public Lifted lift(int segmentAdvance, int datedAdvance) {
    return database.write("key fence", sql -> FenceTable.lift(sql, segmentAdvance, datedAdvance));
  }
}
