package dev.coatcheck.migrate.relay;

import dev.coatcheck.migrate.relay.ActiveTables.ActiveTable;
import dev.coatcheck.migrate.source.Source;
import dev.coatcheck.migrate.source.Sources;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.stream.Collectors;

/**
 * Visits the tables of each source on a thread per source, so a source that can't be reached
 * doesn't hold up others. A source has one round at a time.
 */
final class SourceRounds implements AutoCloseable {
  private static final int STOP_SECONDS_MAX = 5;

  private final Sources sources;
  private final Set<String> busy = ConcurrentHashMap.newKeySet();

  /** At most one thread per configured source. */
  private final ExecutorService threads;

  SourceRounds(Sources sources, String threadName) {
    this.sources = sources;
    this.threads =
        Executors.newCachedThreadPool(
            Thread.ofPlatform().daemon().name(threadName + "-", 0).factory());
  }

  /** Starts a round for each source whose last round has ended. Doesn't wait for any. */
  void begin(List<ActiveTable> tables, BiConsumer<Source, List<ActiveTable>> round) {
    Map<String, List<ActiveTable>> bySource =
        tables.stream().collect(Collectors.groupingBy(ActiveTable::source));
    bySource.forEach(
        (name, some) -> {
          Optional<Source> source = sources.named(name);
          if (source.isPresent() && busy.add(name)) {
            threads.execute(() -> run(source.get(), some, round));
          }
        });
  }

  private void run(
      Source source, List<ActiveTable> tables, BiConsumer<Source, List<ActiveTable>> round) {
    try {
      round.accept(source, tables);
    } finally {
      busy.remove(source.name());
    }
  }

  /** Breaks off running work. */
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
