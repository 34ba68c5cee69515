package dev.coatcheck.migrate.table;

import dev.coatcheck.migrate.table.Backfill.Outcome;
import dev.coatcheck.migrate.table.SetAside.Cause;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import java.util.function.Function;

/**
 * Fills rows that were set aside, with their reserved keys. A batch that fails is halved, down to
 * single rows, so that one refused row keeps no other row from its key.
 */
public final class Retry {
  /** Attempts per block that end in a timeout; after that, the rest of the block is given up. */
  private static final int WAITS_MAX = 16;

  private final Backfill backfill;
  private final Function<List<SetAside>, Outcome> attempt;

  /**
   * @param attempt fills some rows in its own transaction, or throws to give up
   */
  public Retry(Backfill backfill, Function<List<SetAside>, Outcome> attempt) {
    this.backfill = backfill;
    this.attempt = attempt;
  }

  /**
   * Tries all rows after an ID that were set aside for one of the causes, once each. Rows that fail
   * again stay, with their last error.
   *
   * @return how many were filled
   */
  public int run(long afterId, Set<Cause> causes) {
    int filled = 0;
    for (List<SetAside> rows = backfill.setAside(afterId, causes, KeyTimes.BLOCK);
        !rows.isEmpty();
        rows = backfill.setAside(rows.getLast().legacy(), causes, KeyTimes.BLOCK)) {
      filled += block(rows);
    }
    return filled;
  }

  private int block(List<SetAside> rows) {
    Deque<List<SetAside>> pieces = new ArrayDeque<>();
    pieces.push(rows);
    int filled = 0;
    int waits = 0;
    while (!pieces.isEmpty()) {
      List<SetAside> piece = pieces.pop();
      switch (attempt.apply(piece)) {
        case Outcome.Filled some -> filled += some.rows();
        case Outcome.Failed why -> {
          waits += why.cause() == Cause.REFUSED ? 0 : 1;
          if (piece.size() == 1 || waits > WAITS_MAX) {
            backfill.blame(piece, why);
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
}
