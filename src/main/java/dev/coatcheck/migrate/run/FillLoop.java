package dev.coatcheck.migrate.run;

import dev.coatcheck.migrate.backfill.Backfill.Outcome;
import dev.coatcheck.migrate.backfill.Backfill.Range;
import dev.coatcheck.migrate.backfill.Backfill;
import dev.coatcheck.migrate.backfill.Checkpoint;
import dev.coatcheck.migrate.backfill.KeyTimes;
import dev.coatcheck.migrate.backfill.Retry;
import dev.coatcheck.migrate.backfill.SetAside.Cause;
import dev.coatcheck.migrate.backfill.SetAside;
import dev.coatcheck.migrate.journal.Journal;
import dev.coatcheck.migrate.journal.TableMigration;
import dev.coatcheck.migrate.relay.GatewayMappings;
import dev.coatcheck.migrate.source.Source;
import dev.coatcheck.migrate.source.SourceSession;
import dev.coatcheck.migrate.throttle.Throttle;
import dev.coatcheck.migrate.throttle.ThrottleSettings;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * The backfill from its checkpoint to the end: batches of about the wanted length, throttled. A
 * block of rows that fails for good is set aside with its keys and then filled in pieces, so that
 * only those rows stay behind that can't be had; what is locked is tried again at the end. A run
 * that begins anew begins with what was set aside.
 */
final class FillLoop {
  private static final int TRIES_MAX = 3;
  private static final int SHRINK = 10;
  private static final long THROTTLED_MILLIS = 500;
  private static final Set<Cause> PASSING = EnumSet.of(Cause.LOCKED, Cause.SLOW);

  /** From so many batches on, more than half of them failing stops the run. */
  private static final int BATCHES_JUDGED = 50;

  /** A trigger that refuses so many rows refuses them all. */
  private static final int REFUSED_MAX = 1_000;

  private final Journal journal;
  private final TableMigration run;
  private final Heartbeat heartbeat;
  private final Backfill backfill;
  private final Retry retry;
  private final Throttle throttle;
  private final BatchSize size = new BatchSize();
  private int batches;
  private int failed;
  private String lastError = "";

  private FillLoop(
      Journal journal,
      TableMigration run,
      Heartbeat heartbeat,
      Backfill backfill,
      Throttle throttle) {
    this.journal = journal;
    this.run = run;
    this.heartbeat = heartbeat;
    this.backfill = backfill;
    this.retry = new Retry(backfill, this::fill);
    this.throttle = throttle;
  }

  /** Beside the mappings it writes them in the batch; else they follow through the outbox. */
  static FillLoop of(
      Journal journal,
      GatewayMappings gateway,
      Source source,
      SourceSession session,
      TableMigration run,
      Heartbeat heartbeat) {
    return new FillLoop(
        journal,
        run,
        heartbeat,
        new Backfill(
            session,
            run.target(),
            source.isGateway() ? Optional.of(gateway.writer(run.typeNumber())) : Optional.empty()),
        new Throttle(source.database(), run.target(), heartbeat::nanoTime));
  }

  /** Says why it can't go on, if it can't. */
  Optional<String> run() {
    retry(0, EnumSet.allOf(Cause.class));
    Checkpoint at = backfill.checkpoint();
    while (!at.isAtEnd()) {
      advance(new Range(at.lastId(), at.highId(), at.lastPosition()));
      if (batches >= BATCHES_JUDGED && failed > batches / 2) {
        return Optional.of("%d of %d batches failed: %s".formatted(failed, batches, lastError));
      }
      at = backfill.checkpoint();
      if (at.counts().setAside() >= REFUSED_MAX
          && backfill.setAside(0, EnumSet.of(Cause.REFUSED), REFUSED_MAX).size() == REFUSED_MAX) {
        return waiting(at);
      }
    }
    return sweep();
  }

  /** What was locked may be free by now; and then the rows that came without a key. */
  private Optional<String> sweep() {
    retry(0, PASSING);
    for (OptionalLong open = backfill.open(0);
        open.isPresent();
        open = backfill.open(open.getAsLong())) {
      long id = open.getAsLong();
      advance(new Range(id - 1, id, backfill.checkpoint().lastPosition()));
    }
    Checkpoint end = backfill.checkpoint();
    heartbeat.beat();
    if (end.counts().setAside() > 0) {
      return waiting(end);
    }
    journal.filled(run);
    return Optional.empty();
  }

  private Optional<String> waiting(Checkpoint at) {
    SetAside first = backfill.setAside(0, EnumSet.allOf(Cause.class), 1).getFirst();
    return Optional.of(
        "%,d rows were set aside, the first with ID %d: %s. %s, then retry: retry fills only these rows, with the keys that were reserved for them."
            .formatted(
                at.counts().setAside(),
                first.legacy(),
                first.error(),
                first.cause() == Cause.REFUSED
                    ? "Correct these rows, the trigger or the check"
                    : "Wait until the rows are free"));
  }

  /** Fills the first batch of a range, or sets its first block aside. */
  private void advance(Range range) {
    Outcome.Failed why = new Outcome.Failed(Cause.LOCKED, "");
    for (int tried = 0; tried < TRIES_MAX; ) {
      throttle();
      ThrottleSettings throttleSettings = heartbeat.throttleSettings();
      int rows = rows(throttleSettings);
      switch (timed(
          rows,
          () -> backfill.fill(range, rows, heartbeat.claim().fence(), statementMillisMax()))) {
        case Outcome.Filled _ -> {
          batches++;
          return;
        }
        case Outcome.Failed because -> {
          why = because;
          if (why.cause() != Cause.REFUSED) {
            tried++;
            size.shrink(SHRINK);
            heartbeat.pause(THROTTLED_MILLIS / 2);
          } else if (rows == KeyTimes.BLOCK) {
            tried = TRIES_MAX;
          } else {
            size.shrinkToBlock();
          }
        }
      }
    }
    setAside(range, why);
  }

  private void setAside(Range range, Outcome.Failed why) {
    long last = backfill.setAside(range, why, heartbeat.claim().fence(), statementMillisMax());
    lastError = why.error();
    batches++;
    int filled = retry(range.afterId(), EnumSet.of(why.cause()));
    List<SetAside> left = backfill.setAside(range.afterId(), PASSING, KeyTimes.BLOCK);
    if (left.size() > KeyTimes.BLOCK / 2) {
      failed++;
    }
    journal.event(
        run,
        "set_aside",
        "IDs after %d up to %d: %s; %d of these rows are filled."
            .formatted(range.afterId(), last, why.error(), filled));
  }

  private int retry(long afterId, Set<Cause> causes) {
    int filled = retry.run(afterId, causes);
    heartbeat.worked(backfill.checkpoint().counts(), 0);
    journal.setAside(
        heartbeat.claim(), backfill.setAside(0, EnumSet.allOf(Cause.class), Journal.LISTED_MAX));
    return filled;
  }

  private Outcome fill(List<SetAside> rows) {
    throttle();
    return timed(0, () -> backfill.fill(rows, heartbeat.claim().fence(), statementMillisMax()));
  }

  /** Keeps the time of an attempt, and to the rate that was set by hand. */
  private Outcome timed(int rowsWanted, Supplier<Outcome> attempt) {
    heartbeat.requireMine();
    long beganNano = heartbeat.nanoTime();
    Outcome outcome = attempt.get();
    long millis = TimeUnit.NANOSECONDS.toMillis(heartbeat.nanoTime() - beganNano);
    if (outcome instanceof Outcome.Filled filled) {
      heartbeat.worked(backfill.checkpoint().counts(), millis);
      if (rowsWanted == size.rows()) {
        size.took(millis, heartbeat.throttleSettings().batchMillis());
      }
      rest(filled.rows(), millis);
    }
    return outcome;
  }

  private int statementMillisMax() {
    return size.statementMillisMax(heartbeat.throttleSettings().batchMillis());
  }

  /** About a second's worth, but whole blocks. */
  private int rows(ThrottleSettings throttleSettings) {
    return throttleSettings.rowsPerSecondMax() > 0
        ? KeyTimes.wholeBlocks(Math.min(size.rows(), throttleSettings.rowsPerSecondMax()))
        : size.rows();
  }

  private void throttle() {
    for (Optional<String> why = throttle.reason(heartbeat.throttleSettings());
        why.isPresent();
        why = throttle.reason(heartbeat.throttleSettings())) {
      if (heartbeat.because(why)) {
        journal.event(run, "throttled", why.get());
      }
      heartbeat.pause(THROTTLED_MILLIS);
    }
    heartbeat.because(Optional.empty());
  }

  /** A block may be worth more than a second: a changed setting takes effect meanwhile. */
  private void rest(int rows, long millis) {
    long spent = millis;
    for (int max = heartbeat.throttleSettings().rowsPerSecondMax();
        max > 0 && rows * 1_000L / max > spent;
        max = heartbeat.throttleSettings().rowsPerSecondMax()) {
      heartbeat.because(Optional.of("the rate is limited to " + max + " rows a second"));
      long slice = Math.min(THROTTLED_MILLIS, rows * 1_000L / max - spent);
      heartbeat.pause(slice);
      heartbeat.rested(slice);
      spent += slice;
    }
  }
}
