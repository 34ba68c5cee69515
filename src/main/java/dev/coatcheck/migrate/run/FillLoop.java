package dev.coatcheck.migrate.run;

import dev.coatcheck.migrate.backfill.Backfill;
import dev.coatcheck.migrate.backfill.Backfill.Outcome;
import dev.coatcheck.migrate.backfill.Backfill.Range;
import dev.coatcheck.migrate.backfill.Checkpoint;
import dev.coatcheck.migrate.run.TableMigration.FailedRange;
import dev.coatcheck.migrate.source.Source;
import dev.coatcheck.migrate.source.SourceSession;
import dev.coatcheck.migrate.throttle.Knobs;
import dev.coatcheck.migrate.throttle.Throttle;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;

/**
 * The backfill from its checkpoint to the end: batches of about the wanted length, throttled, a bad
 * range set aside after three tries; then those ranges again, and then whatever is left without a
 * key.
 */
final class FillLoop {
  private static final int TRIES_MAX = 3;
  private static final int SHRINK = 10;
  private static final long THROTTLED_MILLIS = 500;

  /** From so many batches on, more than half of them failing stops the run. */
  private static final int BATCHES_JUDGED = 50;

  private final Workshop workshop;
  private final TableMigration run;
  private final Heartbeat heartbeat;
  private final long fence;
  private final Backfill backfill;
  private final Throttle throttle;
  private final BatchSize size = new BatchSize();
  private int batches;
  private int failed;
  private long lastPlace;
  private String lastError = "";

  FillLoop(
      Workshop workshop,
      SourceSession session,
      TableMigration run,
      Source source,
      LeaseStore.Claim claim,
      Heartbeat heartbeat) {
    this.workshop = workshop;
    this.run = run;
    this.heartbeat = heartbeat;
    this.fence = claim.fence();
    this.backfill =
        new Backfill(
            session,
            run.target(),
            source.isGateway() ? Optional.of(workshop.mappings(run)) : Optional.empty());
    this.throttle = new Throttle(source.database(), run.target(), System::nanoTime);
  }

  /** Says why it can't go on, if it can't. */
  Optional<String> run() {
    Checkpoint at = backfill.checkpoint();
    while (!at.isAtEnd()) {
      throttle();
      Range rest = new Range(at.lastId(), at.highId(), at.lastPlace());
      OptionalLong reached = fill(rest, at);
      if (reached.isEmpty()) {
        setAside(rest);
        if (batches >= BATCHES_JUDGED && failed > batches / 2) {
          return Optional.of(failed + " of " + batches + " batches failed");
        }
      }
      at = backfill.checkpoint();
    }
    return sweep(at);
  }

  /** The range again, the failed ones first; each has its own places. */
  private Optional<String> sweep(Checkpoint at) {
    for (RunStore.Kept kept : workshop.runs().failedRanges(run.id())) {
      FailedRange range = kept.range();
      if (fillAll(new Range(range.afterId(), range.lastId(), kept.firstPlace()), at)) {
        workshop.runs().filled(run.id(), range.afterId());
      } else {
        workshop
            .runs()
            .failed(
                run.id(),
                new FailedRange(range.afterId(), range.lastId(), TRIES_MAX, lastError),
                kept.firstPlace());
      }
    }
    List<RunStore.Kept> left = workshop.runs().failedRanges(run.id());
    if (!left.isEmpty()) {
      return Optional.of(
          "%d ranges of rows could not be filled, the first after ID %d: %s. Retry when it is free."
              .formatted(
                  left.size(), left.getFirst().range().afterId(), left.getFirst().range().error()));
    }
    for (OptionalLong open = backfill.open(0);
        open.isPresent();
        open = backfill.open(open.getAsLong())) {
      Checkpoint now = backfill.checkpoint();
      Range row = new Range(open.getAsLong() - 1, open.getAsLong(), now.lastPlace());
      if (!fillAll(row, now)) {
        return Optional.of("the row with ID " + open.getAsLong() + " could not be filled");
      }
    }
    heartbeat.beat();
    workshop.runs().filled(run.id());
    return Optional.empty();
  }

  /** All of a range; false if a part of it can't be had. */
  private boolean fillAll(Range range, Checkpoint at) {
    Range rest = range;
    while (rest.afterId() < rest.lastId()) {
      throttle();
      OptionalLong reached = fill(rest, at);
      if (reached.isEmpty()) {
        return false;
      }
      rest = new Range(reached.getAsLong(), range.lastId(), lastPlace);
    }
    return true;
  }

  /** The first batch of a range, in at most three tries; where it ended. */
  private OptionalLong fill(Range range, Checkpoint at) {
    for (int tried = 0; tried < TRIES_MAX; tried++) {
      heartbeat.requireMine();
      Knobs knobs = heartbeat.knobs();
      int rows = rows(knobs);
      long beganNano = System.nanoTime();
      Outcome outcome =
          backfill.fill(range, rows, fence, size.statementMillisMax(knobs.batchMillis()));
      long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - beganNano);
      switch (outcome) {
        case Outcome.Filled filled -> {
          batches++;
          heartbeat.worked(at.rowsDone() + filled.rows(), millis);
          if (rows == size.rows()) {
            size.took(millis, knobs.batchMillis());
          }
          lastPlace = filled.lastPlace();
          rest(knobs, filled.rows(), millis);
          return OptionalLong.of(filled.uptoId());
        }
        case Outcome.Locked(String why) -> failed(why);
        case Outcome.Slow(String why) -> failed(why);
      }
    }
    return OptionalLong.empty();
  }

  /** At most a second's worth, so that a knob that is turned takes effect within that time. */
  private int rows(Knobs knobs) {
    return knobs.rowsPerSecondMax() > 0
        ? Math.min(size.rows(), knobs.rowsPerSecondMax())
        : size.rows();
  }

  private void failed(String why) {
    lastError = why;
    size.shrink(SHRINK);
    heartbeat.pause(THROTTLED_MILLIS / 2);
  }

  private void setAside(Range rest) {
    long last = backfill.upto(rest, size.rows()).orElse(rest.lastId());
    workshop
        .runs()
        .failed(
            run.id(),
            new FailedRange(rest.afterId(), last, TRIES_MAX, lastError),
            rest.afterPlace());
    backfill.skip(new Range(rest.afterId(), last, rest.afterPlace()), fence);
    batches++;
    failed++;
    workshop.event(
        run, "set_aside", "IDs after %d up to %d: %s".formatted(rest.afterId(), last, lastError));
  }

  private void throttle() {
    for (Optional<String> why = throttle.reason(heartbeat.knobs());
        why.isPresent();
        why = throttle.reason(heartbeat.knobs())) {
      if (heartbeat.because(why)) {
        workshop.event(run, "throttled", why.get());
      }
      heartbeat.pause(THROTTLED_MILLIS);
    }
    heartbeat.because(Optional.empty());
  }

  /** Keeps to the rate that was set by hand. */
  private void rest(Knobs knobs, int rows, long millis) {
    if (knobs.rowsPerSecondMax() > 0) {
      long due = rows * 1_000L / knobs.rowsPerSecondMax();
      if (due > millis) {
        heartbeat.because(
            Optional.of("the rate is limited to " + knobs.rowsPerSecondMax() + " rows a second"));
        heartbeat.pause(due - millis);
        heartbeat.rested(due - millis);
      }
    }
  }
}
