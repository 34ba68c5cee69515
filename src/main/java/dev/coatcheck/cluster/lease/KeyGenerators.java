package dev.coatcheck.cluster.lease;

import dev.coatcheck.core.key.KeyDraw;
import dev.coatcheck.core.key.KeyGenerator;
import dev.coatcheck.core.key.KeyTimes;
import dev.coatcheck.core.key.SnowflakeLayout;
import dev.coatcheck.core.key.UuidV7;
import dev.coatcheck.core.observe.Event;
import dev.coatcheck.core.observe.Observer;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import javax.sql.DataSource;

/**
 * The key generators of this instance: one for UUIDv7, and one leased worker per Snowflake layout,
 * leased when the layout is first used. One is enough: it makes 4,096 keys a millisecond.
 */
public final class KeyGenerators implements AutoCloseable {
  /** Each costs a thread and a statement a second. */
  private static final int LAYOUTS_MAX = 16;

  /** The others are left to layouts of which keys are drawn. */
  private static final int PREPARED_MAX = 8;

  private static final long RETRY_MILLIS = 60_000;

  private final Function<SnowflakeLayout, Optional<LeaseSettings>> settings;
  private final DataSource pool;
  private final Observer observer;
  private final InstantSource clock;
  private final KeyGenerator uuidV7 = new UuidV7();
  private final Map<SnowflakeLayout, WorkerLease> leases = new LinkedHashMap<>();

  /**
   * Leases nothing yet.
   *
   * @param settings empty for a layout of which this instance may lease no worker
   * @param pool for leases alone
   * @param clock tells the days that a layout has left, nothing else
   */
  public KeyGenerators(
      Function<SnowflakeLayout, Optional<LeaseSettings>> settings,
      DataSource pool,
      Observer observer,
      InstantSource clock) {
    this.settings = settings;
    this.pool = pool;
    this.observer = observer;
    this.clock = clock;
  }

  /** Begins to lease what such keys need, so that the first draw finds a worker. */
  public synchronized void prepare(KeyTimes keys) {
    if (leases.size() < PREPARED_MAX) {
      KeyGenerator _ = of(keys);
    }
  }

  /**
   * The generator of such keys. The first to ask for a layout starts its lease, for which the first
   * draw waits.
   */
  public KeyGenerator of(KeyTimes keys) {
    return switch (keys) {
      case KeyTimes.UuidsV7 _ -> uuidV7;
      case KeyTimes.Snowflakes(SnowflakeLayout layout) -> leased(layout);
    };
  }

  private synchronized KeyGenerator leased(SnowflakeLayout layout) {
    WorkerLease known = leases.get(layout);
    if (known != null) {
      return known;
    }
    Optional<LeaseSettings> wanted = settings.apply(layout);
    if (wanted.isEmpty()) {
      return _ -> new KeyDraw.NoWorkerRange(layout.name());
    }
    if (leases.size() == LAYOUTS_MAX) {
      return _ -> new KeyDraw.Refused("too many layouts on one instance", RETRY_MILLIS);
    }
    WorkerLease lease = new WorkerLease(wanted.get(), pool, this::tell).start();
    leases.put(layout, lease);
    observer.gauge(
        "coatcheck.layout.days.left",
        "layout",
        layout.name(),
        () -> layout.daysLeft(clock.instant()));
    return lease;
  }

  /** Gives every worker back. */
  @Override
  public synchronized void close() {
    leases.values().forEach(WorkerLease::close);
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
          case LeaseEvent.NoneFree(String layout, String reason) ->
              new Event.LeaseChanged(layout, -1, "none free", reason, false);
          case LeaseEvent.Failed(String layout, String reason) ->
              new Event.LeaseChanged(layout, -1, "failed", reason, false);
          case LeaseEvent.Released(String layout, int worker) ->
              new Event.LeaseChanged(layout, worker, "released", "", true);
        });
  }
}
