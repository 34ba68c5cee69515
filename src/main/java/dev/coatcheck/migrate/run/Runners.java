package dev.coatcheck.migrate.run;

import dev.coatcheck.cluster.change.ChangeFeed;
import dev.coatcheck.cluster.change.ChangeKind;
import dev.coatcheck.core.observe.Background;
import dev.coatcheck.migrate.relay.ActiveTables;
import dev.coatcheck.migrate.relay.GatewayMappings;
import dev.coatcheck.migrate.relay.NameFollower;
import dev.coatcheck.migrate.relay.OutboxRelay;
import dev.coatcheck.migrate.run.LeaseTable.Claim;
import dev.coatcheck.migrate.source.Source;
import dev.coatcheck.migrate.source.Sources;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;

/**
 * This instance's share of the work: claims runs that have no live runner, and relays the outboxes.
 * When an instance dies, another one claims its runs within seconds.
 */
final class Runners implements AutoCloseable {
  private static final int LOOK_MILLIS = 400;
  private static final int NAMES_MILLIS = 1_000;
  private static final int RUNS_PER_SOURCE_MAX = 4;
  private static final int STOP_SECONDS_MAX = 5;

  private final JournalTable journal;
  private final LeaseTable leases;
  private final GatewayMappings gateway;
  private final Sources sources;
  private final LongSupplier nanoTime;
  private final OutboxRelay relay;
  private final NameFollower names;
  private final Background background;
  private final AtomicBoolean isNews = new AtomicBoolean(true);
  private volatile boolean isBusy;
  private final Map<String, Semaphore> permits = new ConcurrentHashMap<>();
  private final ScheduledExecutorService looks =
      Executors.newScheduledThreadPool(
          3, Thread.ofPlatform().daemon().name("table-migrations-", 0).factory());
  private final ExecutorService runs =
      Executors.newCachedThreadPool(
          Thread.ofPlatform().daemon().name("table-migration-run-", 0).factory());

  Runners(
      JournalTable journal,
      LeaseTable leases,
      GatewayMappings gateway,
      Sources sources,
      ActiveTables active,
      ChangeFeed feed,
      LongSupplier nanoTime) {
    this.journal = journal;
    this.leases = leases;
    this.gateway = gateway;
    this.sources = sources;
    this.nanoTime = nanoTime;
    this.relay =
        new OutboxRelay(
            gateway,
            sources,
            (table, detail) ->
                journal.event(table.run(), table.target(), "mapping_refused", detail),
            nanoTime);
    this.names =
        new NameFollower(
            sources,
            (table, now) -> journal.renamed(table.run(), table.target(), now),
            gateway.observer());
    this.background = new Background("table-migrations", gateway.observer());
    feed.onChange(ChangeKind.TABLE_MIGRATION, () -> isNews.set(true));
    active.refresh();
    every(LOOK_MILLIS, this::look);
    every(
        LOOK_MILLIS,
        () -> {
          if (isBusy || active.isAny()) {
            active.refresh();
            relay.follow(active);
          }
        });
    every(NAMES_MILLIS, () -> names.follow(active));
  }

  /** While nothing is active, Postgres is asked only when the change feed reports a run. */
  private void look() {
    if (isNews.getAndSet(false) || isBusy) {
      try {
        isBusy = leases.isAnyActive();
      } catch (RuntimeException unanswered) {
        isNews.set(true);
        throw unanswered;
      }
    }
    if (isBusy) {
      claim();
    }
  }

  private void every(int millis, Runnable work) {
    var _ =
        looks.scheduleWithFixedDelay(() -> survive(work), millis, millis, TimeUnit.MILLISECONDS);
  }

  /** Work that is broken off by {@link #close} has not failed. */
  private void survive(Runnable work) {
    boolean _ =
        background.run(
            () -> {
              try {
                work.run();
              } catch (RuntimeException failed) {
                if (!looks.isShutdown()) {
                  throw failed;
                }
              }
            });
  }

  /** Runs of a source that can't be reached hold on to their permits; other sources have theirs. */
  private void claim() {
    List<String> free =
        sources.names().stream().filter(source -> permits(source).availablePermits() > 0).toList();
    if (free.isEmpty()) {
      return;
    }
    Optional<Claim> claim = leases.claim(free, Heartbeat.LEASE_MILLIS);
    if (claim.isPresent()) {
      TableMigration run = journal.find(claim.get().id()).orElseThrow();
      // Only this thread takes permits, so there is one.
      permits(run.source()).acquireUninterruptibly();
      runs.execute(() -> survive(() -> work(claim.get(), run)));
    }
  }

  private Semaphore permits(String source) {
    return permits.computeIfAbsent(source, _ -> new Semaphore(RUNS_PER_SOURCE_MAX));
  }

  private void work(Claim claim, TableMigration run) {
    try {
      Source source = sources.ofRun(run.source());
      try (Heartbeat heartbeat = new Heartbeat(leases, claim, run, gateway.observer(), nanoTime)) {
        new Runner(journal, gateway, source, run, heartbeat).run();
      }
      release(claim);
    } finally {
      permits(run.source()).release();
    }
  }

  /** Also on a thread that {@link #close} has interrupted, which could ask Postgres nothing. */
  private void release(Claim claim) {
    boolean isInterrupted = Thread.interrupted();
    try {
      leases.release(claim);
    } finally {
      if (isInterrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** Lets go of all runs; another instance carries them on. */
  @Override
  public void close() {
    looks.shutdownNow();
    runs.shutdownNow();
    relay.close();
    names.close();
    try {
      var _ = runs.awaitTermination(STOP_SECONDS_MAX, TimeUnit.SECONDS);
      var _ = looks.awaitTermination(STOP_SECONDS_MAX, TimeUnit.SECONDS);
    } catch (InterruptedException hurried) {
      Thread.currentThread().interrupt();
    }
  }
}
