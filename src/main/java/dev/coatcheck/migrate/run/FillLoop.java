package dev.coatcheck.migrate.run;

import dev.coatcheck.migrate.relay.GatewayMappings;
import dev.coatcheck.migrate.source.Source;
import dev.coatcheck.migrate.source.SourceSession;
import dev.coatcheck.migrate.table.Backfill;
import dev.coatcheck.migrate.table.Backfill.Outcome;
import dev.coatcheck.migrate.table.Backfill.Range;
import dev.coatcheck.migrate.table.Checkpoint;
import dev.coatcheck.migrate.table.KeyTimes;
import dev.coatcheck.migrate.table.SetAside;
import dev.coatcheck.migrate.table.SetAside.Cause;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Supplier;

/**
 * The backfill from its checkpoint to the end. A block of rows that fails for good is set aside
 * with its keys and then filled in pieces, so that only rows remain that can't be filled. Locked
 * rows are tried again at the end. A later run of the loop begins with the rows that were set
 * aside.
 */
final class FillLoop {
  private static final int TRIES_MAX = 3;
  private static final Set<Cause> PASSING = EnumSet.of(Cause.LOCKED, Cause.SLOW);

  /** From this many batches on, the run stops if more than half of them failed. */
  private static final int BATCHES_JUDGED = 50;

  /** At this many refusals the trigger is taken to refuse every row, and the run stops. */
  private static final int REFUSED_MAX = 1_000;

  private final JournalTable journal;
  private final TableMigration run;
  private final Heartbeat heartbeat;
  private final Backfill backfill;
  private final FillPace pace;
  private final long fence;
  private int batches;
  private int failed;
  private String lastError = "";

  /** Writes the mappings in the batch if they are in the same database, otherwise to the outbox. */
  FillLoop(
      JournalTable journal,
      GatewayMappings gateway,
      Source source,
      SourceSession session,
      TableMigration run,
      Heartbeat heartbeat) {
    this.journal = journal;
    this.run = run;
    this.heartbeat = heartbeat;
    this.backfill =
        new Backfill(
            session,
            run.target(),
            source.isGateway() ? Optional.of(gateway.writer(run.typeNumber())) : Optional.empty(),
            legacyIds -> gateway.writer(run.typeNumber()).erased(gateway.database(), legacyIds));
    this.pace = new FillPace(journal, source, run, heartbeat);
    this.fence = heartbeat.claim().fence();
  }

  /** Returns why it can't continue; empty once all rows are filled. */
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

  /** Tries rows again that were locked, and then fills rows that came without a key. */
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
                switch (first.cause()) {
                  case REFUSED -> "Correct these rows, the trigger or the check";
                  case ERASED -> "Delete these rows";
                  case LOCKED, SLOW -> "Wait until the rows are free";
                }));
  }

  /** Fills the first batch of a range, or sets its first block aside. */
  private void advance(Range range) {
    Outcome.Failed why = new Outcome.Failed(Cause.LOCKED, "");
    for (int tried = 0; tried < TRIES_MAX; ) {
      pace.awaitTurn();
      int rows = pace.rows();
      switch (attempt(rows, () -> backfill.fill(range, rows, fence, pace.statementMillisMax()))) {
        case Outcome.Filled _ -> {
          batches++;
          return;
        }
        case Outcome.Failed because -> {
          why = because;
          if (why.cause() != Cause.REFUSED) {
            tried++;
            pace.shrink();
          } else if (rows == KeyTimes.BLOCK) {
            tried = TRIES_MAX;
          } else {
            pace.shrinkToBlock();
          }
        }
      }
    }
    setAside(range, why);
  }

  private void setAside(Range range, Outcome.Failed why) {
    long last = backfill.setAside(range, why, fence, pace.statementMillisMax());
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
    int filled = backfill.retry(afterId, causes, this::fill);
    heartbeat.counted(backfill.checkpoint().counts());
    journal.setAside(
        heartbeat.claim(),
        backfill.setAside(0, EnumSet.allOf(Cause.class), JournalTable.LISTED_MAX));
    return filled;
  }

  private Outcome fill(List<SetAside> rows) {
    pace.awaitTurn();
    return attempt(0, () -> backfill.fill(rows, fence, pace.statementMillisMax()));
  }

  private Outcome attempt(int rowsWanted, Supplier<Outcome> attempt) {
    return pace.keep(rowsWanted, attempt, () -> heartbeat.counted(backfill.checkpoint().counts()));
  }
}
