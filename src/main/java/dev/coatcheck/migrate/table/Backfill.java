package dev.coatcheck.migrate.table;

import dev.coatcheck.bulk.load.LegacyKeyWriter;
import dev.coatcheck.bulk.load.LegacyKeyWriter.AlreadyThere;
import dev.coatcheck.migrate.source.FenceLost;
import dev.coatcheck.migrate.source.SourceSession;
import dev.coatcheck.migrate.source.SqlTemplate;
import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.migrate.table.BatchTable.Bounds;
import dev.coatcheck.migrate.table.SetAside.Cause;
import dev.coatcheck.postgres.sql.LockTimeout;
import dev.coatcheck.postgres.sql.StatementTimeout;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Function;

/**
 * Gives old rows their keys in the order of their creation, batch by batch. A row's key takes the
 * time of its creation where that keeps the order and {@link KeyTimes} lets it count, else the
 * position after the row before it:
 *
 * <pre>position = rn + greatest(last position, max(created << 12 − rn) over (order by id))</pre>
 *
 * The result is the same for every size of batch. Ties, nulls and wrong dates do no harm, and every
 * key lies above every legacy ID.
 */
public final class Backfill {
  /** What a batch sends: it locks rows, computes their keys and writes those. */
  public static final List<SqlTemplate> STATEMENTS =
      List.of(BatchTable.LOCK, BatchTable.KEYS, RowKeyTable.CALL);

  private static final int LOCK_MILLIS = 250;

  private final BackfillStore store;
  private final SetAsideStore setAside;
  private boolean careful;

  /**
   * A backfill by one runner.
   *
   * @param mappings if they lie beside the rows, so that a batch writes both in one transaction
   */
  public Backfill(SourceSession session, Target target, Optional<LegacyKeyWriter> mappings) {
    BatchTable rows = new BatchTable(target, mappings);
    this.store = new BackfillStore(session.session(), rows);
    this.setAside = new SetAsideStore(session.session(), rows);
  }

  /** The outcome of a batch. */
  public sealed interface Outcome {
    /**
     * Committed.
     *
     * @param rows that got a key
     */
    record Filled(int rows, long uptoId, long lastPosition) implements Outcome {}

    /** Rolled back, for a cause that may lie in a single row. */
    record Failed(Cause cause, String error) implements Outcome {}
  }

  /** IDs after one, up to another, and the position after which theirs begin. */
  public record Range(long afterId, long lastId, long afterPosition) {}

  public Checkpoint checkpoint() {
    return store.checkpoint();
  }

  /**
   * Fills the first rows of a range.
   *
   * @param rowsMax a multiple of {@link KeyTimes#BLOCK}
   * @throws FenceLost if another runner has taken over
   */
  public Outcome fill(Range range, int rowsMax, long fence, int statementMillisMax) {
    if (rowsMax % KeyTimes.BLOCK != 0) {
      throw new IllegalArgumentException("a batch of " + rowsMax + " rows is not of whole blocks");
    }
    return attempt(
        statementMillisMax, bounds -> store.fill(range, rowsMax, fence, careful, bounds));
  }

  /**
   * Sets the first block of a range aside, each row with its key.
   *
   * @return the last ID of it
   * @throws FenceLost if another runner has taken over
   * @throws LockTimeout if rows of the table are being filled ahead all the time
   */
  public long setAside(Range range, Outcome.Failed why, long fence, int statementMillisMax) {
    return setAside.setAside(
        range, why.cause(), why.error(), fence, new Bounds(LOCK_MILLIS, statementMillisMax));
  }

  /** Rows that were set aside for one of some causes, in the order of their IDs. */
  public List<SetAside> setAside(long afterId, Set<Cause> causes, int most) {
    return setAside.list(afterId, causes, most);
  }

  /**
   * Fills rows that were set aside; rows that are locked are left out.
   *
   * @throws FenceLost if another runner has taken over
   */
  public Outcome fill(List<SetAside> rows, long fence, int statementMillisMax) {
    return attempt(
        statementMillisMax,
        bounds -> {
          int filled = setAside.fill(rows, fence, careful, bounds);
          return new Outcome.Filled(filled, rows.getLast().legacy(), 0);
        });
  }

  /** Writes down why rows stay set aside. */
  public void blame(List<SetAside> rows, Outcome.Failed why) {
    setAside.blame(rows, why.cause(), why.error());
  }

  /** The first row after an ID that has no key and was not set aside. */
  public OptionalLong open(long afterId) {
    return store.open(afterId);
  }

  private Outcome attempt(int statementMillisMax, Function<Bounds, Outcome> work) {
    Bounds bounds = new Bounds(LOCK_MILLIS, statementMillisMax);
    try {
      return carefully(bounds, work);
    } catch (LockTimeout held) {
      return new Outcome.Failed(Cause.LOCKED, "a row of it is locked");
    } catch (StatementTimeout slow) {
      return new Outcome.Failed(Cause.SLOW, "it took over " + statementMillisMax + " ms");
    } catch (BatchTable.RowRefused refused) {
      return new Outcome.Failed(Cause.REFUSED, refused.reason());
    }
  }

  /**
   * Mappings that are there already are the exception: after the first every batch looks before.
   */
  private Outcome carefully(Bounds bounds, Function<Bounds, Outcome> work) {
    try {
      return work.apply(bounds);
    } catch (AlreadyThere met) {
      careful = true;
      return work.apply(bounds);
    }
  }
}
