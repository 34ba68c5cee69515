package dev.coatcheck.migrate.run;

import dev.coatcheck.cluster.change.ChangeFeed;
import dev.coatcheck.cluster.change.ChangeKind;
import dev.coatcheck.core.observe.Background;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.migrate.run.SourceErasureStore.Task;
import dev.coatcheck.migrate.source.Source;
import dev.coatcheck.migrate.source.Sources;
import dev.coatcheck.migrate.table.ErasedRowsTable;
import dev.coatcheck.migrate.table.ErasedRowsTable.ErasedRow;
import dev.coatcheck.postgres.session.Session;
import dev.coatcheck.postgres.sql.Database;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;

/**
 * Deletes what sources have of erased public IDs, until each source has answered. Every instance
 * does so, for deleting again changes nothing; while nothing is erased, Postgres is not asked.
 */
final class SourceErasures implements AutoCloseable {
  private static final Duration PERIOD = Duration.ofSeconds(1);

  /** For a source that did not answer. */
  private static final long PAUSE_NANOS = TimeUnit.SECONDS.toNanos(30);

  private final SourceErasureStore store;
  private final JournalTable journal;
  private final Sources sources;
  private final LongSupplier nanoTime;
  private final Background background;
  private final AtomicBoolean isNews = new AtomicBoolean(true);
  private final Map<String, Long> pausedUntilNano = new HashMap<>();
  private boolean isOpen;

  SourceErasures(
      Database gateway,
      JournalTable journal,
      Sources sources,
      ChangeFeed feed,
      Observer observer,
      LongSupplier nanoTime) {
    this.store = new SourceErasureStore(gateway);
    this.journal = journal;
    this.sources = sources;
    this.nanoTime = nanoTime;
    this.background = new Background("source-erasures", observer);
    feed.onChange(ChangeKind.ENDING, () -> isNews.set(true));
    background.every(PERIOD, this::round);
  }

  private void round() {
    if (!isNews.getAndSet(false) && !isOpen) {
      return;
    }
    isOpen = true; // if the next line fails
    List<Task> tasks = store.open();
    isOpen = !tasks.isEmpty();
    tasks.stream().collect(Collectors.groupingBy(Task::source)).forEach(this::visit);
  }

  private void visit(String name, List<Task> tasks) {
    long now = nanoTime.getAsLong();
    if (now - pausedUntilNano.getOrDefault(name, now) < 0) {
      return;
    }
    boolean hasAnswered = background.run(() -> clear(sources.ofRun(name), tasks));
    if (hasAnswered) {
      pausedUntilNano.remove(name);
    } else {
      pausedUntilNano.put(name, nanoTime.getAsLong() + PAUSE_NANOS);
    }
  }

  private void clear(Source source, List<Task> tasks) {
    try (Session session = Session.open(source.settings(), "coatcheck erase")) {
      tasks.stream()
          .collect(Collectors.groupingBy(Task::typeNumber))
          .forEach((type, some) -> clear(session, journal.of(source.name(), type), some));
    }
    List<Task> done = tasks.stream().filter(Task::isSettled).toList();
    if (!done.isEmpty()) {
      store.finish(source.name(), done);
    }
  }

  private static void clear(Session session, List<TableMigration> runs, List<Task> tasks) {
    runs.forEach(run -> new ErasedRowsTable(session, run.target()).delete(rows(tasks)));
    List<ErasedRow> settled = rows(tasks.stream().filter(Task::isSettled).toList());
    if (!settled.isEmpty()) {
      // All runs of a table have one archive.
      runs.stream()
          .collect(Collectors.groupingBy(run -> run.target().anchors().firstName()))
          .values()
          .forEach(
              some ->
                  new ErasedRowsTable(session, some.getFirst().target())
                      .deleteArchivedKeys(settled));
    }
  }

  private static List<ErasedRow> rows(List<Task> tasks) {
    return tasks.stream().map(Task::row).toList();
  }

  /** Breaks off running work, which another instance repeats. */
  @Override
  public void close() {
    background.stop();
  }
}
