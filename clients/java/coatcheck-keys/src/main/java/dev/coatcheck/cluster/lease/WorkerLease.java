package dev.coatcheck.cluster.lease;

import dev.coatcheck.core.key.KeyGenerator;
import dev.coatcheck.core.key.KeyOutcome;
import dev.coatcheck.core.key.KeyReservation;
import dev.coatcheck.core.key.SnowflakeLayout;
import dev.coatcheck.core.key.Waiter;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.Function;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Snowflake keys of a leased worker. One thread of its own acquires a worker, renews the window and
 * acquires another one when it must, so that a draw never touches the database.
 */
public final class WorkerLease implements KeyGenerator, AutoCloseable {
  private static final long CLOSE_MILLIS_MAX = 3_000;

  /** As long as a statement may take, and a request to a gateway. */
  private static final long FIRST_REPLY_MILLIS_MAX = 800;

  private final SnowflakeLayout layout;
  private final Consumer<LeaseEvent> events;
  private final Function<LeaseRequest, LeaseReply> database;
  private final Waiter waiter;
  private final LeaseKeeper keeper;
  private final @Nullable WallWatch wall;
  private final Thread driver;
  private final CountDownLatch firstReply = new CountDownLatch(1);
  private volatile boolean closing;

  /**
   * @param pool connections for leases alone, two are enough, so that overload elsewhere can't cost
   *     an instance its worker
   */
  public WorkerLease(LeaseSettings settings, DataSource pool, Consumer<LeaseEvent> events) {
    this(
        settings,
        new WorkerLeaseStore(pool, settings)::send,
        LeaseRules.KEPT,
        Waiter.PARKING,
        null,
        events);
  }

  /**
   * For a process whose machine may be suspended, with its monotonic clock: where the wall clock
   * runs 2 s ahead of the monotonic one, the window is closed early, within a tenth of a second.
   */
  public static WorkerLease watchingTheWallClock(
      LeaseSettings settings, DataSource pool, Consumer<LeaseEvent> events) {
    return watchingTheWallClock(settings, new WorkerLeaseStore(pool, settings)::send, events);
  }

  /** The same, over something else than a connection to Postgres. */
  public static WorkerLease watchingTheWallClock(
      LeaseSettings settings,
      Function<LeaseRequest, LeaseReply> database,
      Consumer<LeaseEvent> events) {
    return new WorkerLease(
        settings,
        database,
        LeaseRules.KEPT,
        Waiter.PARKING,
        new WallWatch(System::currentTimeMillis),
        events);
  }

  WorkerLease(
      LeaseSettings settings,
      Function<LeaseRequest, LeaseReply> database,
      LeaseRules rules,
      Waiter waiter,
      @Nullable WallWatch wall,
      Consumer<LeaseEvent> events) {
    this.layout = settings.layout();
    this.events = events;
    this.database = database;
    this.waiter = waiter;
    this.keeper = new LeaseKeeper(layout, rules, events, waiter.nanoTime());
    this.wall = wall;
    this.driver = new Thread(this::drive, "lease-" + layout.name());
    driver.setDaemon(true);
  }

  /** Begins to lease. A draw waits for the first reply of the database, mostly a few ms. */
  public WorkerLease start() {
    driver.start();
    return this;
  }

  @Override
  public KeyOutcome next(int count) {
    if (firstReply.getCount() > 0) {
      awaitFirstReply();
    }
    return KeyReservation.draw(count, layout, this::reserve, waiter);
  }

  /**
   * Waits for the first reply of the database, 800 ms at most; returns at once afterwards.
   *
   * @return whether it has come
   */
  public boolean awaitFirstReply() {
    try {
      return firstReply.await(FIRST_REPLY_MILLIS_MAX, TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  /**
   * A key, or −1 if there is none now. Never blocks, and allocates 40 bytes a millisecond at most.
   */
  public long key() {
    return keeper.reserveKey(waiter.nanoTime());
  }

  /** Up to {@code count} positions of the worker held. Never blocks. */
  public KeyReservation reserve(int count) {
    return keeper.reserve(count, waiter.nanoTime());
  }

  private void drive() {
    while (!closing) {
      // An interrupt is no end of the lease. Left set, no pause would be one, and no request sent.
      Thread.interrupted();
      if (wall != null && wall.ranAhead(waiter.nanoTime())) {
        keeper.closeEarly(waiter.nanoTime());
      }
      LeaseKeeper.Step step = keeper.next(waiter.nanoTime());
      if (step instanceof LeaseKeeper.Step.Sleep sleep) {
        waiter.pause(wall == null ? sleep.nanos() : Math.min(sleep.nanos(), WallWatch.EVERY_NANOS));
      } else if (step instanceof LeaseKeeper.Step.Send send) {
        long sentNano = waiter.nanoTime();
        if (wall != null) {
          wall.sending(sentNano);
        }
        LeaseReply reply = send(send.request());
        long nano = waiter.nanoTime();
        keeper.replied(send.request(), reply, sentNano, nano);
        if (wall != null
            && (reply instanceof LeaseReply.Acquired || reply instanceof LeaseReply.Renewed)) {
          wall.settled();
        }
        firstReply.countDown();
      }
    }
    giveBack();
  }

  /** Here, so that an interrupt of the thread that closes doesn't leave the worker taken. */
  private void giveBack() {
    Thread.interrupted();
    LeaseRequest.Release farewell = keeper.farewell();
    if (farewell != null) {
      events.accept(
          send(farewell) instanceof LeaseReply.Failed failed
              ? new LeaseEvent.Failed(layout.name(), failed.reason())
              : new LeaseEvent.Released(layout.name(), farewell.worker()));
    }
  }

  /** Whatever goes wrong here, the thread must live: without it the instance never mints again. */
  private LeaseReply send(LeaseRequest request) {
    try {
      return database.apply(request);
    } catch (Throwable e) { // a driver may throw errors too
      return new LeaseReply.Failed(e.toString());
    }
  }

  /**
   * Stops minting, and gives the worker back with its mark kept. An interrupt ends the wait for it
   * alone.
   */
  @Override
  public void close() {
    closing = true;
    keeper.stop();
    LockSupport.unpark(driver);
    try {
      driver.join(CLOSE_MILLIS_MAX);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
