package dev.coatcheck.bulk.load;

import dev.coatcheck.core.key.KeyDraw;
import dev.coatcheck.core.observe.Event;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Commits chunks: at first as if all their rows were new, which costs Postgres no look-up; if a row
 * is not new, beside the stored rows. A file that was imported before is all conflicts, so after a
 * conflict the next chunk isn't tried the quick way.
 */
final class ChunkCommitter {
  private static final int TRIES_MAX = 5;

  private final ImportStore store;
  private final Importer.MintingTools tools;
  private volatile boolean careful;

  ChunkCommitter(ImportStore store, Importer.MintingTools tools) {
    this.store = store;
    this.tools = tools;
  }

  /** All that can be done for a chunk without the database. */
  sealed interface Preparation {
    record NoKeys(KeyDraw.NoKeys why) implements Preparation {}
  }

  /** A chunk before its transaction: with keys, and encoded if it is to be tried the quick way. */
  record Prepared(Chunk chunk, KeySupply keys, @Nullable Plan fresh, @Nullable CopyBatch batch)
      implements Preparation {}

  Preparation prepare(Chunk chunk) {
    return switch (KeySupply.draw(chunk.rows(), tools.keys(), tools.datedKeys())) {
      case KeySupply.Drawn.Refused(KeyDraw.NoKeys why) -> new Preparation.NoKeys(why);
      case KeySupply.Drawn.Ready(KeySupply keys) -> {
        if (careful) {
          yield new Prepared(chunk, keys, null, null);
        }
        Plan fresh = Plan.fresh(chunk.rows(), keys.copy(), tools.tokens()::next);
        yield new Prepared(chunk, keys, fresh, CopyBatch.of(fresh));
      }
    };
  }

  /**
   * Commits the chunk; what was done is the plan.
   *
   * @throws dev.coatcheck.postgres.sql.DatabaseUnavailable if the outcome is unknown; the same rows
   *     again settle it
   */
  Plan settle(Prepared prepared) {
    Plan fresh = prepared.fresh();
    CopyBatch batch = prepared.batch();
    if (fresh != null
        && batch != null
        && store.insert(batch, ImportRow.giveIds(prepared.chunk().rows()))) {
      return counted(fresh);
    }
    return counted(settleBeside(prepared.chunk().rows(), prepared.keys()));
  }

  private Plan settleBeside(List<ImportRow> rows, KeySupply keys) {
    for (int tried = 0; tried < TRIES_MAX; tried++) {
      Optional<Plan> plan =
          store.insertBeside(
              rows, existing -> Plan.beside(existing, rows, keys.copy(), tools.tokens()::next));
      if (plan.isPresent()) {
        careful = plan.get().mappings().size() < rows.size();
        return plan.get();
      }
    }
    throw new IllegalStateException(
        "others inserted rows of this chunk " + TRIES_MAX + " times, rows=" + rows.size());
  }

  private Plan counted(Plan plan) {
    plan.counts()
        .forEach(
            (type, count) ->
                tools
                    .observer()
                    .observe(new Event.Minted(type, count.created(), count.existing())));
    return plan;
  }
}
