package dev.coatcheck.cluster.lease;

import dev.coatcheck.cluster.grant.DatedKeyGenerators;
import dev.coatcheck.cluster.grant.Segments;
import dev.coatcheck.core.key.DatedKeyGenerator;
import dev.coatcheck.core.key.KeyGeneration;
import dev.coatcheck.core.key.KeyGenerator;
import dev.coatcheck.core.key.KeyOutcome;
import dev.coatcheck.core.key.KeyTimes;
import dev.coatcheck.core.key.SnowflakeLayout;
import dev.coatcheck.core.key.UuidV7;
import dev.coatcheck.core.observe.Event;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.postgres.sql.Database;
import java.time.InstantSource;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import javax.sql.DataSource;

/**
 * What makes the keys of this instance: for UUIDv7, for segments, for given times, and one leased
 * worker per Snowflake layout, leased when the layout is first used. One is enough: it makes 4,096
 * keys a millisecond.
 */
public final class KeyFactory implements AutoCloseable {
  /**
   * Each costs a thread and a statement a second. Leaves room for as many layouts of types as there
   * may be with names and those that requests spell out.
   */
  private static final int LAYOUTS_MAX = 24;

  /** The others are left to layouts of which keys are drawn. */
  private static final int PREPARED_MAX = 8;

  private static final long RETRY_MILLIS = 60_000;

  private final Leasing leasing;
  private final Database database;
  private final Observer observer;
  private final InstantSource clock;
  private final KeyGenerator uuidV7 = new UuidV7();
  private final DatedKeyGenerators dated;
  private final Segments segments;
  private final Map<SnowflakeLayout, WorkerLease> leases = new LinkedHashMap<>();

  /** Those that requests have spelled out. */
  private final Set<SnowflakeLayout> spelled = new HashSet<>();

  /**
   * How workers are leased.
   *
   * @param pool for leases alone
   * @param windowMillis how long keys can be made through an outage of the database
   */
  public record Leasing(WorkerRanges workers, String holder, long windowMillis, DataSource pool) {}

  /**
   * Leases nothing yet.
   *
   * @param clock tells the days that a layout has left, nothing else
   */
  public KeyFactory(
      Leasing leasing,
      Database database,
      Segments segments,
      Observer observer,
      InstantSource clock) {
    this.leasing = leasing;
    this.database = database;
    this.observer = observer;
    this.clock = clock;
    this.dated = new DatedKeyGenerators(database, leasing.workers()::dated, observer);
    this.segments = segments;
  }

  /** Begins to lease what such keys need, so that the first draw finds a worker. */
  public synchronized void prepare(KeyTimes keys) {
    if (leases.size() < PREPARED_MAX) {
      KeyGenerator _ = of(keys);
    }
  }

  /**
   * The generator of such keys; equal for equal ones. The first to ask for a layout starts its
   * lease, for which the first draw waits.
   *
   * @throws IllegalStateException if none are generated
   */
  public KeyGenerator of(KeyGeneration keys) {
    return switch (keys) {
      case KeyTimes.UuidsV7 _ -> uuidV7;
      case KeyTimes.Snowflakes(SnowflakeLayout layout) -> leased(layout);
      case KeyGeneration.Segment(String tag) -> segments.generator(tag);
      case KeyGeneration.None _ -> throw new IllegalStateException("no keys are generated");
    };
  }

  /**
   * The generator of such keys for given times; empty if the layout has no worker for them that
   * this instance may use.
   */
  public Optional<DatedKeyGenerator> dated(KeyTimes keys) {
    return dated.of(keys);
  }

  public Segments segments() {
    return segments;
  }

  /**
   * The generator of keys of a layout that a request spells out and that has neither a name nor a
   * type; empty if there are as many layouts as requests may spell out, and this would be a further
   * one.
   */
  public Optional<KeyGenerator> spelled(SnowflakeLayout layout) {
    if (leasing.workers().areLimited() || isLeased(layout)) {
      return Optional.of(leased(layout));
    }
    return database.<Boolean>read("layouts", sql -> LayoutStore.hasRoom(sql, layout))
        ? leasedIfRoom(layout)
        : Optional.empty();
  }

  private synchronized boolean isLeased(SnowflakeLayout layout) {
    return leases.containsKey(layout);
  }

  private synchronized Optional<KeyGenerator> leasedIfRoom(SnowflakeLayout layout) {
    if (!isLeased(layout) && !spelled.contains(layout)) {
      if (spelled.size() == LayoutStore.LAYOUTS_MAX) {
        return Optional.empty();
      }
      spelled.add(layout);
    }
    return Optional.of(leased(layout));
  }

  private synchronized KeyGenerator leased(SnowflakeLayout layout) {
    WorkerLease known = leases.get(layout);
    if (known != null) {
      return known;
    }
    Optional<WorkerRanges.Range> range = leasing.workers().leased(layout);
    if (range.isEmpty()) {
      return _ -> new KeyOutcome.NoWorkerRange(layout.name());
    }
    if (leases.size() == LAYOUTS_MAX) {
      return _ -> new KeyOutcome.Refused("too many layouts on one instance", RETRY_MILLIS);
    }
    LeaseSettings settings =
        new LeaseSettings(
            layout,
            range.get().first(),
            range.get().last(),
            leasing.holder(),
            leasing.windowMillis());
    WorkerLease lease = new WorkerLease(settings, leasing.pool(), this::tell).start();
    leases.put(layout, lease);
    observer.gauge(
        "coatcheck.layout.days.left",
        "layout",
        layout.name(),
        () -> layout.daysLeft(clock.instant()));
    return lease;
  }

  /**
   * Tells the layouts of which this instance may lease no worker.
   *
   * @param used the layouts of types
   */
  public void tellLayoutsWithoutRange(Set<SnowflakeLayout> used) {
    Set<SnowflakeLayout> known = new LinkedHashSet<>(SnowflakeLayout.NAMED);
    known.addAll(used);
    for (SnowflakeLayout layout : known) {
      if (leasing.workers().leased(layout).isEmpty()) {
        observer.observe(new Event.LayoutWithoutWorkers(layout.name(), used.contains(layout)));
      }
    }
  }

  /** Gives every worker back, all at the same time: each may wait some seconds for its database. */
  @Override
  public synchronized void close() {
    try (ExecutorService closers = Executors.newVirtualThreadPerTaskExecutor()) {
      leases.values().forEach(lease -> closers.execute(lease::close));
    }
    leases.clear();
  }

  private void tell(LeaseEvent event) {
    observer.observe(
        switch (event) {
          case LeaseEvent.Acquired(String layout, int worker, long epoch) ->
              new Event.LeaseChanged(layout, worker, "acquired", "epoch " + epoch, true);
          case LeaseEvent.Gone(String layout, int worker, long epoch) ->
              new Event.LeaseChanged(layout, worker, "gone", "epoch " + epoch, false);
          case LeaseEvent.SteppedBack(String layout, int worker, long leadMillis) ->
              new Event.LeaseChanged(
                  layout,
                  worker,
                  "resting",
                  "the database's clock fell " + leadMillis + " ms back",
                  false);
          case LeaseEvent.ClosedEarly(String layout, int worker) ->
              new Event.LeaseChanged(layout, worker, "closed early", "the clock was set", false);
          case LeaseEvent.NoneFree(String layout, String reason) ->
              new Event.LeaseChanged(layout, -1, "none free", reason, false);
          case LeaseEvent.Failed(String layout, String reason) ->
              new Event.LeaseChanged(layout, -1, "failed", reason, false);
          case LeaseEvent.Released(String layout, int worker) ->
              new Event.LeaseChanged(layout, worker, "released", "", true);
        });
  }
}
