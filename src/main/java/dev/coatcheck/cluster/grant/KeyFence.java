package dev.coatcheck.cluster.grant;

import dev.coatcheck.postgres.sql.Database;

/**
 * Refuses grants on a primary that may not know all earlier ones, until an operator says how many
 * numbers the lost grants can have taken, and names a worker that made no keys for given times yet.
 */
public final class KeyFence {
  /** More than any outage can have lost, and far from the end of a bigint. */
  public static final int ADVANCE_MAX = 1_000_000_000;

  /** More failovers than any database has; layouts run out of workers long before. */
  public static final int DATED_WORKER_MAX = 1_000_000;

  private final Database database;

  public KeyFence(Database database) {
    this.database = database;
  }

  /** The outcome of a lift. */
  public sealed interface Lift {
    /**
     * The fence is open.
     *
     * @param wasClosed whether grants were refused before; if not, nothing was done
     * @param segmentAdvance how many numbers of each segment were ever skipped
     * @param datedWorker which of each layout's workers for given times is in use, from 1
     */
    record Open(boolean wasClosed, long segmentAdvance, int datedWorker) implements Lift {}

    /** The worker is not greater than the last that this database knows. Nothing was done. */
    record WorkerUsed(int lastDatedWorker) implements Lift {}
  }

  /**
   * Grants from now on, on this primary, if it did not before.
   *
   * @param segmentAdvance how many numbers to skip in each segment, 0 to {@link #ADVANCE_MAX}
   * @param datedWorker which of each layout's workers for given times to use, 1 to {@link
   *     #DATED_WORKER_MAX}; greater than any that was named before, on whichever primary. A layout
   *     that has less workers makes no such keys any more.
   */
  public Lift lift(int segmentAdvance, int datedWorker) {
    return database.write(
        "key fence",
        sql -> {
          FenceTable.State before = FenceTable.state(sql);
          if (before.isOpen()) {
            return new Lift.Open(false, before.segmentAdvance(), before.datedWorker());
          }
          if (datedWorker <= before.datedWorker()) {
            return new Lift.WorkerUsed(before.datedWorker());
          }
          long skipped = before.segmentAdvance() + segmentAdvance;
          FenceTable.lift(sql, skipped, datedWorker);
          return new Lift.Open(true, skipped, datedWorker);
        });
  }
}
