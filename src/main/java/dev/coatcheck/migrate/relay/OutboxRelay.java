package dev.coatcheck.migrate.relay;

import dev.coatcheck.migrate.relay.ActiveTables.ActiveTable;
import dev.coatcheck.migrate.source.Source;
import dev.coatcheck.migrate.source.Sources;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.stream.Collectors;

/**
 * Brings the mappings of new rows from every outbox, whatever the state of its run: as long as the
 * triggers are there. Instances share the work by row locks. Each source has a thread of its own: a
 * source that can't be reached holds up nothing but its own outboxes.
 */
public final class OutboxRelay implements AutoCloseable {
  private static final int STOP_SECONDS_MAX = 5;

  private final GatewayMappings mappings;
  private final Sources sources;
  private final BiConsumer<ActiveTable, String> refusals;
  private final Map<String, SourceFollower> followers = new HashMap<>();

  /** At most one thread for each source of the configuration. */
  private final ExecutorService threads =
      Executors.newCachedThreadPool(
          Thread.ofPlatform().daemon().name("table-migration-outbox-", 0).factory());

  /**
   * Brings nothing until it is told to.
   *
   * @param refusals is told of rows whose mapping contradicts an existing mapping
   */
  public OutboxRelay(
      GatewayMappings mappings, Sources sources, BiConsumer<ActiveTable, String> refusals) {
    this.mappings = mappings;
    this.sources = sources;
    this.refusals = refusals;
  }

  /**
   * Begins a round for each source whose last round has ended, and waits for none of them. For one
   * thread.
   */
  public void follow(ActiveTables active) {
    Map<String, List<ActiveTable>> bySource =
        active.all().stream()
            .filter(ActiveTable::hasOutbox)
            .collect(Collectors.groupingBy(ActiveTable::source));
    bySource.forEach(this::follow);
  }

  private void follow(String name, List<ActiveTable> tables) {
    Optional<Source> source = sources.named(name);
    if (source.isEmpty()) {
      return;
    }
    SourceFollower follower =
        followers.computeIfAbsent(name, _ -> new SourceFollower(mappings, source.get(), refusals));
    if (follower.tryBegin()) {
      threads.execute(() -> follower.round(tables));
    }
  }

  /** Breaks off what is under way: an entry that was not deleted is brought again. */
  @Override
  public void close() {
    threads.shutdownNow();
    try {
      var _ = threads.awaitTermination(STOP_SECONDS_MAX, TimeUnit.SECONDS);
    } catch (InterruptedException hurried) {
      Thread.currentThread().interrupt();
    }
  }
}
