package dev.coatcheck.migrate.run;

import dev.coatcheck.migrate.source.Source;
import dev.coatcheck.migrate.source.Throttle;
import dev.coatcheck.migrate.table.Backfill.Outcome;
import dev.coatcheck.migrate.table.KeyTimes;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * The pace of a backfill: batches of about the wanted length, no faster than the rate that was set,
 * and none while the source is busy. Changed settings take effect at once. The size of batches
 * grows slowly and shrinks at once.
 */
final class FillPace {
  private static final int BATCH_ROWS_MAX = KeyTimes.wholeBlocks(50_000);
  private static final int BATCH_ROWS_FIRST = 1_024;
  private static final double GROWTH_MAX = 1.2;
  private static final int SHRINK = 10;
  private static final int STATEMENT_FACTOR = 10;
  private static final int STATEMENT_MILLIS_MIN = 5_000;

  /** Less than the time that a session waits for an answer. */
  private static final int STATEMENT_MILLIS_MAX = 50_000;

  private static final long THROTTLED_MILLIS = 500;

  private final JournalTable journal;
  private final TableMigration run;
  private final Heartbeat heartbeat;
  private final Throttle throttle;

  /** Rows that take about the wanted time; not rounded to blocks, so that it grows slowly. */
  private int wantedRows = BATCH_ROWS_FIRST;

  FillPace(JournalTable journal, Source source, TableMigration run, Heartbeat heartbeat) {
    this.journal = journal;
    this.run = run;
    this.heartbeat = heartbeat;
    this.throttle = new Throttle(source.database(), run.target(), heartbeat::nanoTime);
  }

  /** Waits while the source is busy. */
  void awaitTurn() {
    for (Optional<String> why = throttle.reason(heartbeat.throttleSettings());
        why.isPresent();
        why = throttle.reason(heartbeat.throttleSettings())) {
      if (heartbeat.because(why)) {
        journal.event(run, "throttled", why.get());
      }
      heartbeat.loaded(throttle.load());
      heartbeat.pause(THROTTLED_MILLIS);
    }
    heartbeat.loaded(throttle.load());
    heartbeat.because(Optional.empty());
  }

  /** Rows of the next batch, in whole blocks; with a limit of the rate, about a second's worth. */
  int rows() {
    int rowsPerSecondMax = heartbeat.throttleSettings().rowsPerSecondMax();
    return KeyTimes.wholeBlocks(
        rowsPerSecondMax > 0 ? Math.min(wantedRows, rowsPerSecondMax) : wantedRows);
  }

  /** How long a batch may take before it is given up and split. */
  int statementMillisMax() {
    return Math.clamp(
        (long) STATEMENT_FACTOR * heartbeat.throttleSettings().batchMillis(),
        STATEMENT_MILLIS_MIN,
        STATEMENT_MILLIS_MAX);
  }

  /**
   * Makes an attempt and rests after it, as long as the rate asks for.
   *
   * @param rowsWanted that decide about the size of the next batch; 0: they don't
   * @param filled runs before the rest, if rows were filled
   */
  Outcome keep(int rowsWanted, Supplier<Outcome> attempt, Runnable filled) {
    heartbeat.requireMine();
    long beganNano = heartbeat.nanoTime();
    Outcome outcome = attempt.get();
    long millis = TimeUnit.NANOSECONDS.toMillis(heartbeat.nanoTime() - beganNano);
    if (outcome instanceof Outcome.Filled done) {
      heartbeat.worked(millis);
      filled.run();
      if (rowsWanted == KeyTimes.wholeBlocks(wantedRows)) {
        took(millis);
      }
      rest(done.rows(), millis);
    }
    return outcome;
  }

  private void took(long millis) {
    double wantedMillis = heartbeat.throttleSettings().batchMillis();
    double factor = Math.min(GROWTH_MAX, wantedMillis / Math.max(1, millis));
    wantedRows = bounded((long) Math.ceil(wantedRows * factor));
  }

  private static int bounded(long rows) {
    return Math.clamp(rows, KeyTimes.BLOCK, BATCH_ROWS_MAX);
  }

  /** After a batch that others held up. */
  void shrink() {
    wantedRows = bounded(KeyTimes.wholeBlocks(wantedRows) / SHRINK);
    heartbeat.pause(THROTTLED_MILLIS / 2);
  }

  /** Down to one block, where a single row may be what fails. */
  void shrinkToBlock() {
    wantedRows = KeyTimes.BLOCK;
  }

  /** In slices, because a block may be worth more than a second. */
  void rest(int rows, long millis) {
    long spent = millis;
    for (int max = heartbeat.throttleSettings().rowsPerSecondMax();
        max > 0 && rows * 1_000L / max > spent;
        max = heartbeat.throttleSettings().rowsPerSecondMax()) {
      heartbeat.because(Optional.of("the rate is limited to " + max + " rows a second"));
      long slice = Math.min(THROTTLED_MILLIS, rows * 1_000L / max - spent);
      heartbeat.pause(slice);
      heartbeat.worked(slice);
      spent += slice;
    }
  }
}
