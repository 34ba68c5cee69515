package dev.coatcheck.cluster.grant;

import dev.coatcheck.cluster.audit.Actor;
import dev.coatcheck.cluster.audit.AuditTable;
import dev.coatcheck.postgres.sql.Database;
import java.util.Map;

/**
 * Refuses grants on a primary that may not know all earlier ones, until an operator says how many
 * numbers the lost grants may have used, and names a dated worker that has not generated keys yet.
 */
public final class KeyFence {
  /** More than any outage can lose, and far from the end of a bigint. */
  public static final int ADVANCE_MAX = 1_000_000_000;

  /** More than any database has failovers. Layouts run out of workers much earlier. */
  public static final int DATED_WORKER_MAX = 1_000_000;

  private final Database database;

  public KeyFence(Database database) {
    this.database = database;
  }

  /** The outcome of opening the fence. */
  public sealed interface Lift {
    /**
     * The fence is open.
     *
     * @param wasClosed whether grants were refused before; if not, nothing was done
     * @param segmentAdvance how many numbers of each segment have been skipped in total
     * @param datedWorker the ordinal, from 1, of the dated worker in use in each layout
     */
    record Open(boolean wasClosed, long segmentAdvance, int datedWorker) implements Lift {}

    /** The worker is not above the last one that this database knows. Nothing was done. */
    record WorkerUsed(int lastDatedWorker) implements Lift {}
  }

  /**
   * Opens the fence on this primary.
   *
   * @param segmentAdvance how many numbers to skip in each segment, 0 to {@link #ADVANCE_MAX}
   * @param datedWorker the ordinal of the dated worker to use in each layout, 1 to {@link
   *     #DATED_WORKER_MAX}; greater than any that was named before, on any primary. A layout with
   *     fewer dated workers generates no more such keys.
   */
  public Lift lift(int segmentAdvance, int datedWorker, Actor actor) {
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
          AuditTable.append(
              sql,
              actor,
              "keys.fence",
              "fence",
              Map.of("advance", segmentAdvance, "dated_worker", datedWorker));
          return new Lift.Open(true, skipped, datedWorker);
        });
  }
}
