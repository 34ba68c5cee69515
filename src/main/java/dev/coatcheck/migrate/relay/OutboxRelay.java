package dev.coatcheck.migrate.relay;

import dev.coatcheck.migrate.relay.ActiveTables.ActiveTable;
import dev.coatcheck.migrate.source.Source;
import dev.coatcheck.migrate.source.Sources;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;
import java.util.function.LongSupplier;

/**
 * Brings the mappings of new rows from every outbox, whatever the state of its run: as long as the
 * triggers are there. Instances share the work by row locks.
 */
public final class OutboxRelay implements AutoCloseable {
  private final GatewayMappings mappings;
  private final BiConsumer<ActiveTable, String> refusals;
  private final LongSupplier nanoTime;
  private final SourceRounds rounds;
  private final Map<String, SourceFollower> followers = new ConcurrentHashMap<>();

  /**
   * Brings nothing until it is told to.
   *
   * @param refusals is told of rows whose mapping contradicts an existing mapping
   */
  public OutboxRelay(
      GatewayMappings mappings,
      Sources sources,
      BiConsumer<ActiveTable, String> refusals,
      LongSupplier nanoTime) {
    this.mappings = mappings;
    this.nanoTime = nanoTime;
    this.refusals = refusals;
    this.rounds = new SourceRounds(sources, "table-migration-outbox");
  }

  /** Begins to bring what waits in all of them. */
  public void follow(ActiveTables active) {
    rounds.begin(active.all().stream().filter(ActiveTable::hasOutbox).toList(), this::follow);
  }

  private void follow(Source source, List<ActiveTable> tables) {
    followers
        .computeIfAbsent(
            source.name(), _ -> new SourceFollower(mappings, source, refusals, nanoTime))
        .round(tables);
  }

  /** Breaks off what is under way: an entry that was not deleted is brought again. */
  @Override
  public void close() {
    rounds.close();
  }
}
