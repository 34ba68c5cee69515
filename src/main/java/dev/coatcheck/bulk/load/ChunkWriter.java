package dev.coatcheck.bulk.load;

import dev.coatcheck.postgres.sql.DatabaseUnavailable;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import org.jspecify.annotations.Nullable;

/** Commits one chunk at a time, on a thread beside the one that reads and prepares the next. */
final class ChunkWriter implements AutoCloseable {
  private final Settler settler;
  private final Tally tally;
  private @Nullable UnderWay underWay;

  private record UnderWay(Chunk chunk, FutureTask<Plan> plan) {}

  ChunkWriter(Settler settler, Tally tally) {
    this.settler = settler;
    this.tally = tally;
  }

  /** Waits until the chunk before is committed, then begins with this one. */
  Optional<ImportOutcome.Reason> write(Chunk chunk) {
    Optional<Settler.Prepared> prepared = settler.prepare(chunk);
    Optional<ImportOutcome.Reason> failed = finish();
    if (failed.isPresent()) {
      return failed;
    }
    if (prepared.isEmpty()) {
      return Optional.of(ImportOutcome.Reason.KEYS_UNAVAILABLE);
    }
    FutureTask<Plan> plan = new FutureTask<>(() -> settler.settle(prepared.get()));
    underWay = new UnderWay(chunk, plan);
    Thread.ofVirtual().name("import").start(plan);
    return Optional.empty();
  }

  /** Waits for the last chunk; says why it couldn't be committed. */
  Optional<ImportOutcome.Reason> finish() {
    UnderWay last = underWay;
    underWay = null;
    if (last == null) {
      return Optional.empty();
    }
    try {
      tally.add(last.chunk(), last.plan().get());
      return Optional.empty();
    } catch (ExecutionException failed) {
      if (failed.getCause() instanceof DatabaseUnavailable) {
        return Optional.of(ImportOutcome.Reason.DATABASE_UNAVAILABLE);
      }
      throw new IllegalStateException("a chunk failed, line=" + last.chunk().lastLine(), failed);
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      return Optional.of(ImportOutcome.Reason.BODY_BROKEN);
    }
  }

  /** Waits for what is under way: its rows count, whatever else went wrong. */
  @Override
  public void close() {
    Optional<ImportOutcome.Reason> _ = finish();
  }
}
