package dev.coatcheck.migrate.backfill;

import dev.coatcheck.bulk.load.LegacyKeyTable;
import dev.coatcheck.bulk.load.LegacyKeyTable.AlreadyThere;
import dev.coatcheck.migrate.source.FenceLost;
import dev.coatcheck.migrate.source.SourceSession;
import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.migrate.source.TargetSql;
import dev.coatcheck.postgres.sql.LockTimeout;
import dev.coatcheck.postgres.sql.StatementTimeout;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Gives old rows their keys in the order of their creation, batch by batch. A row's key takes the
 * time of its creation where that keeps the order, else the place after the row before it:
 *
 * <pre>place = rn + greatest(last place, max(created << 12 − rn) over (order by id))</pre>
 *
 * which is the same for every size of batch, stands ties, nulls and rows dated back, and begins
 * above every legacy ID. Times later than a minute before T0 count as none.
 */
public final class Backfill {
  /**
   * The keys of one batch, as the template of a statement. The rows are locked first, in a part of
   * its own, because a window function may not stand beside a lock. Those that have a key already
   * are locked too: a look-up may have filled one ahead, and the places of the others must come
   * after it. {@link RowKeyTable} writes them.
   *
   * <p>Values: the last id, the first that is not wanted and the rows of a batch; T0; the greatest
   * place so far.
   */
  public static final String KEYS = TargetSql.template("/dev/coatcheck/migrate/backfill/keys.sql");

  private static final int LOCK_MILLIS = 250;

  private final BackfillStore store;
  private boolean careful;

  /**
   * A backfill by one runner.
   *
   * @param mappings if they lie beside the rows, so that a batch writes both in one transaction
   */
  public Backfill(SourceSession session, Target target, Optional<LegacyKeyTable> mappings) {
    this.store = new BackfillStore(session.session(), target, mappings);
  }

  /** What became of a batch. */
  public sealed interface Outcome {
    /**
     * Committed.
     *
     * @param rows that got a key
     */
    record Filled(int rows, long uptoId, long lastPlace) implements Outcome {}

    /** Somebody holds one of the rows. */
    record Locked(String reason) implements Outcome {}

    /** It took longer than it may. */
    record Slow(String reason) implements Outcome {}
  }

  /** IDs after one, up to another, and the place after which theirs begin. */
  public record Range(long afterId, long lastId, long afterPlace) {}

  public Checkpoint checkpoint() {
    return store.checkpoint();
  }

  /**
   * Fills the first rows of a range.
   *
   * @throws FenceLost if another runner has taken over
   */
  public Outcome fill(Range range, int rowsMax, long fence, int statementMillisMax) {
    BackfillStore.Bounds bounds = new BackfillStore.Bounds(LOCK_MILLIS, statementMillisMax);
    BackfillStore.Range batch =
        new BackfillStore.Range(range.afterId(), range.lastId(), range.afterPlace(), rowsMax);
    try {
      BackfillStore.Filled filled = fill(batch, fence, bounds);
      return new Outcome.Filled(filled.rows(), filled.uptoId(), filled.lastPlace());
    } catch (LockTimeout held) {
      return new Outcome.Locked("a row of it is locked");
    } catch (StatementTimeout slow) {
      return new Outcome.Slow("it took over " + statementMillisMax + " ms");
    }
  }

  /**
   * Mappings that are there already are the exception: after the first every batch looks before.
   */
  private BackfillStore.Filled fill(
      BackfillStore.Range batch, long fence, BackfillStore.Bounds bounds) {
    try {
      return store.fill(batch, fence, careful, bounds);
    } catch (AlreadyThere met) {
      careful = true;
      return store.fill(batch, fence, true, bounds);
    }
  }

  /** Leaves a range for later, and keeps places free for it. */
  public void skip(Range range, long fence) {
    store.skip(
        new BackfillStore.Range(range.afterId(), range.lastId(), range.afterPlace(), 0), fence);
  }

  /** Where a batch of so many rows would end; empty if no row is left. */
  public OptionalLong upto(Range range, int rows) {
    return store.upto(range.afterId(), range.lastId(), rows);
  }

  /** The first row after an ID that has no key. */
  public OptionalLong open(long afterId) {
    return store.open(afterId);
  }
}
