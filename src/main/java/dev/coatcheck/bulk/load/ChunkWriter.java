package dev.coatcheck.bulk.load;

import dev.coatcheck.bulk.rows.Tally;
import dev.coatcheck.core.key.KeyDraw;
import dev.coatcheck.postgres.sql.DatabaseUnavailable;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import org.jspecify.annotations.Nullable;

/** Commits one chunk at a time, on a thread beside the one that reads and prepares the next. */
final class ChunkWriter implements AutoCloseable {
  private final ChunkCommitter committer;
  private final Tally tally;
  private @Nullable UnderWay underWay;

  private record UnderWay(Chunk chunk, FutureTask<Plan> plan) {}

  ChunkWriter(ChunkCommitter committer, Tally tally) {
    this.committer = committer;
    this.tally = tally;
  }

  /** Waits until the chunk before is committed, then begins with this one. */
  Optional<ImportOutcome.Reason> write(Chunk chunk) {
    ChunkCommitter.Preparation preparation = committer.prepare(chunk);
    Optional<ImportOutcome.Reason> failed = finish();
    if (failed.isPresent()) {
      return failed;
    }
    return switch (preparation) {
      case ChunkCommitter.Preparation.NoKeys(KeyDraw.NoKeys why) ->
          Optional.of(new ImportOutcome.Reason.KeysUnavailable(why));
      case ChunkCommitter.Prepared prepared -> {
        FutureTask<Plan> plan = new FutureTask<>(() -> committer.settle(prepared));
        underWay = new UnderWay(chunk, plan);
        Thread.ofVirtual().name("import").start(plan);
        yield Optional.empty();
      }
    };
  }

  /** Waits for the last chunk; says why it couldn't be committed. */
  Optional<ImportOutcome.Reason> finish() {
    UnderWay last = underWay;
    underWay = null;
    if (last == null) {
      return Optional.empty();
    }
    try {
      count(last.chunk(), last.plan().get());
      return Optional.empty();
    } catch (ExecutionException failed) {
      if (failed.getCause() instanceof DatabaseUnavailable) {
        return Optional.of(new ImportOutcome.Reason.DatabaseGone());
      }
      throw new IllegalStateException("a chunk failed, line=" + last.chunk().lastLine(), failed);
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      return Optional.of(new ImportOutcome.Reason.BodyBroken());
    }
  }

  private void count(Chunk chunk, Plan plan) {
    plan.counts().values().forEach(count -> tally.add(count.created(), count.existing()));
    tally.refuse(chunk.errors());
    tally.refuse(plan.errors());
    tally.settle(chunk.lastLine());
  }

  /** Waits for what is under way: its rows count, whatever else went wrong. */
  @Override
  public void close() {
    Optional<ImportOutcome.Reason> _ = finish();
  }
}
