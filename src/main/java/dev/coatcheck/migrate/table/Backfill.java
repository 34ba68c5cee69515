package dev.coatcheck.migrate.table;

import dev.coatcheck.bulk.load.LegacyKeyWriter;
import dev.coatcheck.bulk.load.LegacyKeyWriter.AlreadyThere;
import dev.coatcheck.migrate.source.FenceLost;
import dev.coatcheck.migrate.source.SourceSession;
import dev.coatcheck.migrate.source.SqlTemplate;
import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.migrate.table.SetAside.Cause;
import dev.coatcheck.postgres.sql.LockTimeout;
import dev.coatcheck.postgres.sql.StatementTimeout;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Gives old rows their keys in the order of their IDs, batch by batch. A row's key carries the
 * creation time of the row if that keeps the order and {@link KeyTimes} accepts the time; otherwise
 * it has the position after that of the previous row:
 *
 * <pre>position = rn + greatest(last position, max(created << 12 − rn) over (order by id))</pre>
 *
 * The result doesn't depend on the batch size. Ties, nulls and wrong dates do no harm, and every
 * key is above every legacy ID.
 */
public final class Backfill {
  /** The statements of a batch: it locks rows, computes their keys and writes them. */
  public static final List<SqlTemplate> STATEMENTS =
      List.of(BatchTable.LOCK, BatchTable.KEYS, BatchTable.CALL);

  /** Attempts per block that end in a timeout; after that, the rest of the block is given up. */
  private static final int WAITS_MAX = 16;

  private final BackfillStore store;
  private final SetAsideStore setAside;
  private boolean careful;

  /**
   * @param mappings if they are in the same database as the rows, so that a batch writes both in
   *     one transaction
   * @param erased those of some legacy IDs whose public IDs were erased: their rows get no keys
   */
  public Backfill(
      SourceSession session,
      Target target,
      Optional<LegacyKeyWriter> mappings,
      Function<List<Long>, Set<Long>> erased) {
    BatchTable rows = new BatchTable(target, mappings);
    this.setAside = new SetAsideStore(session.session(), rows, erased);
    this.store = new BackfillStore(session.session(), rows, setAside);
  }

  public sealed interface Outcome {
    /**
     * Committed.
     *
     * @param rows how many rows got a key
     */
    record Filled(int rows) implements Outcome {}

    /** Rolled back, for a cause that may be a single row. */
    record Failed(Cause cause, String error) implements Outcome {}
  }

  /** The IDs after one ID up to another, and the position after which their positions begin. */
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
        statementMillisMax, () -> store.fill(range, rowsMax, fence, careful, statementMillisMax));
  }

  /**
   * Sets the first block of a range aside, each row with its key.
   *
   * @return the last ID of the block
   * @throws FenceLost if another runner has taken over
   * @throws LockTimeout if look-ups fill rows of the table on demand all the time
   */
  public long setAside(Range range, Outcome.Failed why, long fence, int statementMillisMax) {
    return setAside.setAside(range, why.cause(), why.error(), fence, statementMillisMax);
  }

  /** Rows that were set aside for one of the causes, in the order of their IDs. */
  public List<SetAside> setAside(long afterId, Set<Cause> causes, int most) {
    return setAside.list(afterId, causes, most);
  }

  /**
   * Fills rows that were set aside; skips locked rows.
   *
   * @throws FenceLost if another runner has taken over
   */
  public Outcome fill(List<SetAside> rows, long fence, int statementMillisMax) {
    return attempt(
        statementMillisMax,
        () -> new Outcome.Filled(setAside.fill(rows, fence, careful, statementMillisMax)));
  }

  /**
   * Tries all rows after an ID that were set aside for one of the causes, once each, with their
   * reserved keys. A batch that fails is halved, down to single rows, so that one refused row keeps
   * no other row from its key. Rows that fail again stay, with their last error.
   *
   * @param attempt fills some rows in its own transaction, or throws to give up
   * @return how many were filled
   */
  public int retry(long afterId, Set<Cause> causes, Function<List<SetAside>, Outcome> attempt) {
    int filled = 0;
    for (List<SetAside> rows = setAside(afterId, causes, KeyTimes.BLOCK);
        !rows.isEmpty();
        rows = setAside(rows.getLast().legacy(), causes, KeyTimes.BLOCK)) {
      filled += retry(rows, attempt);
    }
    return filled;
  }

  private int retry(List<SetAside> rows, Function<List<SetAside>, Outcome> attempt) {
    Deque<List<SetAside>> pieces = new ArrayDeque<>();
    pieces.push(rows);
    int filled = 0;
    int waits = 0;
    while (!pieces.isEmpty()) {
      List<SetAside> piece = pieces.pop();
      switch (attempt.apply(piece)) {
        case Outcome.Filled some -> filled += some.rows();
        case Outcome.Failed(Cause cause, String error) -> {
          waits += cause == Cause.REFUSED ? 0 : 1;
          if (piece.size() == 1 || waits > WAITS_MAX) {
            setAside.blame(piece, cause, error);
          } else {
            int half = piece.size() / 2;
            pieces.push(piece.subList(half, piece.size()));
            pieces.push(piece.subList(0, half));
          }
        }
      }
    }
    return filled;
  }

  /** The first row after an ID that has no key and is not set aside. */
  public OptionalLong open(long afterId) {
    return store.open(afterId);
  }

  private Outcome attempt(int statementMillisMax, Supplier<Outcome> work) {
    try {
      return carefully(work);
    } catch (LockTimeout held) {
      return new Outcome.Failed(Cause.LOCKED, "a row of it is locked");
    } catch (StatementTimeout slow) {
      return new Outcome.Failed(Cause.SLOW, "it took over " + statementMillisMax + " ms");
    } catch (BatchTable.RowRefused refused) {
      return new Outcome.Failed(Cause.REFUSED, refused.reason());
    }
  }

  /** Existing mappings are the exception. After the first one every batch checks for them. */
  private Outcome carefully(Supplier<Outcome> work) {
    try {
      return work.get();
    } catch (AlreadyThere met) {
      careful = true;
      return work.get();
    }
  }
}
