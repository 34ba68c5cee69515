package dev.coatcheck.bulk.load;

import dev.coatcheck.bulk.rows.Tally;
import dev.coatcheck.core.observe.Event;
import dev.coatcheck.core.seal.SealKeyMissing;
import dev.coatcheck.ids.registry.Registry;
import dev.coatcheck.postgres.sql.DatabaseUnavailable;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Commits chunks one at a time, while its caller reads and prepares the next one. First it inserts
 * a chunk as if all rows were new, without a look-up. If that conflicts, it looks up the stored
 * rows and inserts the others. A file that was imported before conflicts in each chunk, so after a
 * conflict the next chunk is looked up at once.
 */
final class ChunkWriter implements AutoCloseable {
  private static final int TRIES_MAX = 5;

  private final ImportStore store;
  private final Registry registry;
  private final Importer.MintingTools tools;
  private final Tally tally;
  private final BooleanSupplier mayImport;
  private volatile boolean careful;
  private @Nullable UnderWay underWay;

  private record UnderWay(Chunk chunk, FutureTask<ImportPlan> plan) {}

  /**
   * @param mayImport whether the sender still has access; asked before each chunk
   */
  ChunkWriter(
      ImportStore store,
      Registry registry,
      Importer.MintingTools tools,
      Tally tally,
      BooleanSupplier mayImport) {
    this.mayImport = mayImport;
    this.store = store;
    this.registry = registry;
    this.tools = tools;
    this.tally = tally;
  }

  /** Waits until the chunk before is committed, which may last, then begins with this one. */
  Optional<ImportOutcome.Reason> write(Chunk chunk) {
    Optional<ImportStore.Encoded> prepared =
        careful || chunk.hasRetiredTypes() ? Optional.empty() : fresh(chunk);
    Optional<ImportOutcome.Reason> failed = finish();
    if (failed.isPresent()) {
      return failed;
    }
    if (!mayImport.getAsBoolean()) {
      return Optional.of(new ImportOutcome.Reason.AccessEnded());
    }
    boolean isChanged = chunk.renewTypes(registry) || chunk.hasRetiredTypes();
    Optional<ImportStore.Encoded> fresh = prepared.filter(_ -> !isChanged);
    FutureTask<ImportPlan> plan = new FutureTask<>(() -> settle(chunk, fresh));
    underWay = new UnderWay(chunk, plan);
    Thread.ofVirtual().name("import").start(plan);
    return Optional.empty();
  }

  /** As if all rows were new; empty if there are no keys for so many, who may not need them. */
  private Optional<ImportStore.Encoded> fresh(Chunk chunk) {
    try {
      return Optional.of(ImportStore.Encoded.of(ImportPlan.ofNew(chunk, tools)));
    } catch (KeysUnavailable few) {
      return Optional.empty();
    }
  }

  /**
   * Commits the chunk; what was done is the plan.
   *
   * @throws KeysUnavailable if there are too few keys for its new rows; nothing was done
   * @throws DatabaseUnavailable if the outcome is unknown; the same rows again settle it
   */
  private ImportPlan settle(Chunk chunk, Optional<ImportStore.Encoded> fresh) {
    Optional<ImportPlan> inserted = fresh.flatMap(encoded -> store.insert(chunk, encoded));
    if (inserted.isPresent()) {
      return inserted.get();
    }
    for (int tried = 0; tried < TRIES_MAX; tried++) {
      Optional<ImportPlan> plan =
          store.insertBeside(chunk, known -> ImportPlan.of(chunk, known, tools));
      if (plan.isPresent()) {
        careful = !plan.get().isAllNew(chunk);
        return plan.get();
      }
      chunk.dropKeys();
    }
    throw new IllegalStateException(
        "others inserted rows of this chunk " + TRIES_MAX + " times, rows=" + chunk.size());
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
      return Optional.of(
          switch (failed.getCause()) {
            case DatabaseUnavailable _ -> new ImportOutcome.Reason.DatabaseGone();
            case KeysUnavailable few -> new ImportOutcome.Reason.KeysUnavailable(few.why());
            case SealKeyMissing missing ->
                new ImportOutcome.Reason.SealKeyMissing(missing.fingerprint());
            case null, default ->
                throw new IllegalStateException(
                    "a chunk failed, line=" + last.chunk().lastLine(), failed);
          });
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      return Optional.of(new ImportOutcome.Reason.BodyBroken());
    }
  }

  private void count(Chunk chunk, ImportPlan plan) {
    plan.counts()
        .forEach(
            (type, count) -> {
              tally.add(count.created(), count.existing());
              tools.observer().observe(new Event.Minted(type, count.created(), count.existing()));
            });
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
