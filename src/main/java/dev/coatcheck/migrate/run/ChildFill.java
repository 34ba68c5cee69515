package dev.coatcheck.migrate.run;

import dev.coatcheck.core.observe.RootCause;
import dev.coatcheck.migrate.run.Heartbeat.Stopped;
import dev.coatcheck.migrate.table.ChildFillTable;
import dev.coatcheck.postgres.sql.DatabaseUnavailable;
import dev.coatcheck.postgres.sql.LockTimeout;
import dev.coatcheck.postgres.sql.StatementTimeout;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * Fills the twins of a child's rows, in batches of about the wanted length. A row that is locked
 * for long is left for a later round. Rows that come or change meanwhile are filled by the
 * triggers.
 */
final class ChildFill {
  private static final long BUSY_MILLIS = 100;
  private static final int PAGES_FIRST = 16;
  private static final int PAGES_MAX = 4_096;
  private static final int TRIES_MAX = 3;
  private static final int ROUNDS_MAX = 20;

  /** Rounds without progress while no row is locked. */
  private static final int IDLE_ROUNDS_MAX = 3;

  private final ChildFillTable table;
  private final String label;
  private final FillPace pace;
  private final Heartbeat heartbeat;
  private long pages = PAGES_FIRST;
  private boolean isHeld;

  ChildFill(ChildFillTable table, String label, FillPace pace, Heartbeat heartbeat) {
    this.table = table;
    this.label = label;
    this.pace = pace;
    this.heartbeat = heartbeat;
  }

  /** Returns why it can't continue; empty once all rows are filled. */
  Optional<String> run() {
    ChildFillTable.Open open = table.open();
    int idle = 0;
    for (int round = 0; open.rows() > 0 && round < ROUNDS_MAX && idle < IDLE_ROUNDS_MAX; round++) {
      isHeld = false;
      Optional<String> refused = round();
      if (refused.isPresent()) {
        return refused;
      }
      ChildFillTable.Open left = table.open();
      idle = isHeld || left.rows() < open.rows() ? 0 : idle + 1;
      if (left.rows() >= open.rows()) {
        heartbeat.pause(TimeUnit.SECONDS.toMillis(1));
      }
      open = left;
    }
    heartbeat.because(Optional.empty());
    return open.rows() == 0
        ? Optional.empty()
        : Optional.of(
            "%,d rows of %s could not be filled; they refer to %s. Those rows are locked, or they refer to rows that don't exist, or a trigger of the table keeps them from being updated. End the transactions, or correct the rows or the trigger, then retry."
                .formatted(open.rows(), label, open.legacyIds()));
  }

  /** One pass over the pages that exist now. */
  private Optional<String> round() {
    long last = table.pages();
    for (long page = 0; page < last; ) {
      pace.awaitTurn();
      heartbeat.requireMine();
      heartbeat.because(Optional.of("%s: %d of 100 pages".formatted(label, 100 * page / last)));
      long count = Math.min(pages, last - page);
      try {
        fill(page, count);
      } catch (Stopped | DatabaseUnavailable known) {
        throw known;
      } catch (RuntimeException refused) {
        return Optional.of(
            "rows of %s can't be changed: %s".formatted(label, RootCause.words(refused)));
      }
      page += count;
    }
    return Optional.empty();
  }

  private void fill(long page, long count) {
    for (int tried = 0; tried < TRIES_MAX; tried++) {
      try {
        long beganNano = heartbeat.nanoTime();
        int rows = table.fill(page, count, pace.statementMillisMax());
        long millis = TimeUnit.NANOSECONDS.toMillis(heartbeat.nanoTime() - beganNano);
        resize(millis);
        pace.rest(rows, millis);
        return;
      } catch (LockTimeout | StatementTimeout busy) {
        isHeld = true;
        pages = Math.max(1, pages / 2);
        heartbeat.pause(BUSY_MILLIS);
      }
    }
  }

  private void resize(long millis) {
    long wanted = heartbeat.throttleSettings().batchMillis();
    pages =
        millis > wanted
            ? Math.max(1, pages * wanted / millis)
            : Math.min(PAGES_MAX, pages + Math.max(1, pages / 5));
  }
}
