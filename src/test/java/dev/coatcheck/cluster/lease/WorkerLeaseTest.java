package dev.coatcheck.cluster.lease;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import dev.coatcheck.MachineDelay;
import dev.coatcheck.core.key.Key;
import dev.coatcheck.core.key.KeyOutcome;
import dev.coatcheck.core.key.KeyReservation;
import dev.coatcheck.core.key.SnowflakeLayout;
import dev.coatcheck.core.key.Waiter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class WorkerLeaseTest {
  private static final String NOW = "select floor(extract(epoch from clock_timestamp()) * 1000)";

  private final LeaseDatabase database = LeaseDatabase.fresh();
  private final HikariDataSource pool = database.pool();
  private final ConcurrentLinkedQueue<LeaseEvent> events = new ConcurrentLinkedQueue<>();
  private volatile boolean cutOff;

  /** Added to the database's clock as the lease sees it. */
  private volatile long clockJumpMillis;

  @AfterEach
  void close() {
    pool.close();
  }

  private static LeaseSettings settings(int firstWorker, int lastWorker) {
    return new LeaseSettings(SnowflakeLayout.DEFAULT, firstWorker, lastWorker, "test", 2_000);
  }

  /** A lease whose database can be cut off. */
  private WorkerLease lease(LeaseSettings settings) {
    WorkerLeaseStore store = new WorkerLeaseStore(pool, settings);
    return new WorkerLease(
            settings,
            request -> cutOff ? new LeaseReply.Failed("cut off") : jumped(store.send(request)),
            LeaseRules.KEPT,
            Waiter.PARKING,
            null,
            events::add)
        .start();
  }

  private LeaseReply jumped(LeaseReply reply) {
    return switch (reply) {
      case LeaseReply.Renewed(long now, long until) ->
          new LeaseReply.Renewed(now + clockJumpMillis, until);
      case LeaseReply.Acquired _,
          LeaseReply.NoneFree _,
          LeaseReply.Gone _,
          LeaseReply.Released _,
          LeaseReply.Failed _ ->
          reply;
    };
  }

  private static void awaitMinting(WorkerLease lease) {
    await().until(() -> lease.reserve(1) instanceof KeyReservation.Some);
  }

  /** Waits for a key: on a busy machine a renewal may be late, and a window closes before it. */
  private static long single(WorkerLease lease) {
    KeyOutcome drawn = await().until(() -> lease.next(1), KeyOutcome.Drawn.class::isInstance);
    return ((Key.Bigint) ((KeyOutcome.Drawn) drawn).keys().getFirst()).value();
  }

  @Test
  void aMillionKeysOnFourThreadsAreUniqueAndRise() throws Exception {
    long[] all = new long[1_048_576];
    try (WorkerLease lease = lease(settings(0, 1_020));
        ExecutorService threads = Executors.newFixedThreadPool(4)) {
      awaitMinting(lease);
      List<Future<?>> running = new ArrayList<>();
      for (int thread = 0; thread < 4; thread++) {
        int from = thread * all.length / 4;
        running.add(threads.submit(() -> fill(lease, all, from, all.length / 4)));
      }
      for (Future<?> future : running) {
        future.get();
      }
    }
    Arrays.sort(all);
    for (int i = 1; i < all.length; i++) {
      assertThat(all[i] == all[i - 1]).isFalse();
    }
  }

  private static void fill(WorkerLease lease, long[] keys, int from, int count) {
    long previous = -1;
    for (int done = 0; done < count; ) {
      // At the layout's limit a thread may go without for 50 ms: then it asks again.
      if (lease.next(Math.min(count - done, 1 + done % 16_384))
          instanceof KeyOutcome.Drawn(List<Key> drawn)) {
        for (Key key : drawn) {
          long value = ((Key.Bigint) key).value();
          assertThat(value > previous).isTrue();
          previous = value;
          keys[from + done++] = value;
        }
      }
    }
  }

  @Test
  void keysCarryTheLeasedWorkerAndTheDatabasesTime() {
    try (WorkerLease lease = lease(settings(37, 37))) {
      awaitMinting(lease);
      long before = database.number(NOW);
      long key = single(lease);
      long now = database.number(NOW);
      assertThat(SnowflakeLayout.DEFAULT.workerOf(key)).isEqualTo(37);
      assertThat(SnowflakeLayout.DEFAULT.timeOf(key).toEpochMilli())
          .isBetween(before - 500, now + 7);
    }
  }

  @Test
  void mintingEndsWithTheWindowAndComesBackByItself() {
    try (MachineDelay delay = MachineDelay.measure();
        WorkerLease lease = lease(settings(0, 1_020))) {
      awaitMinting(lease);
      long last = single(lease);
      cutOff = true;
      long cutNano = System.nanoTime();
      await()
          .pollInterval(Duration.ofMillis(1))
          .until(() -> lease.reserve(1) instanceof KeyReservation.Wait);
      delay.requireWithin(Duration.ofMillis(2_100), Duration.ofNanos(System.nanoTime() - cutNano));
      long askedNano = System.nanoTime();
      assertThat(lease.next(1))
          .isInstanceOfSatisfying(
              KeyOutcome.Refused.class,
              refused -> {
                assertThat(refused.reason()).isEqualTo("cut off");
                assertThat(refused.retryAfterMillis()).isPositive();
              });
      delay.requireWithin(Duration.ofMillis(300), Duration.ofNanos(System.nanoTime() - askedNano));
      cutOff = false;
      assertThat(single(lease)).isGreaterThan(last);
    }
  }

  @Test
  void aStolenWorkerIsReplacedAndKeysGoOnRising() {
    try (WorkerLease lease = lease(settings(0, 1))) {
      awaitMinting(lease);
      long before = single(lease);
      database.execute(
          "update coatcheck.worker_lease set epoch = epoch + 1, holder = 'thief',"
              + " expires_at = clock_timestamp() + interval '15 s',"
              + " granted_until_ms = granted_until_ms + 60000 where holder = 'test'");
      await().until(() -> events.stream().anyMatch(LeaseEvent.Gone.class::isInstance));
      await()
          .until(
              () ->
                  SnowflakeLayout.DEFAULT.workerOf(single(lease))
                      != SnowflakeLayout.DEFAULT.workerOf(before));
      assertThat(single(lease)).isGreaterThan(before);
      assertThat(events).noneMatch(LeaseEvent.Failed.class::isInstance);
    }
  }

  @Test
  void aDatabaseClockThatStepsBackLeavesTheWorkerRestingAtItsMark() {
    try (WorkerLease lease = lease(settings(0, 1_020))) {
      awaitMinting(lease);
      int worker = SnowflakeLayout.DEFAULT.workerOf(single(lease));
      clockJumpMillis = -3_600_000;
      await().until(() -> events.stream().anyMatch(LeaseEvent.SteppedBack.class::isInstance));
      await().until(() -> SnowflakeLayout.DEFAULT.workerOf(single(lease)) != worker);
    }
  }

  @Test
  void aClosedLeaseMintsNothingAndGivesItsWorkerBack() {
    WorkerLease lease = lease(settings(5, 5));
    awaitMinting(lease);
    lease.close();
    assertThat(lease.next(1)).isInstanceOf(KeyOutcome.Refused.class);
    assertThat(
            database.number(
                "select count(*) from coatcheck.worker_lease where expires_at <= clock_timestamp()"
                    + " and worker = 5 and granted_until_ms > 0"))
        .isEqualTo(1);
    assertThat(events).last().isEqualTo(new LeaseEvent.Released("default", 5));
  }

  /** Such as that of an executor that is shut down. */
  @Test
  void anInterruptedThreadThatClosesGivesTheWorkerBack() {
    WorkerLease lease = lease(settings(6, 6));
    awaitMinting(lease);
    Thread.currentThread().interrupt();
    lease.close();
    assertThat(Thread.interrupted()).isTrue();
    await().until(() -> events.contains(new LeaseEvent.Released("default", 6)));
  }

  @Test
  void aWorkerThatCannotBeGivenBackIsNotToldAsReleased() {
    WorkerLease lease = lease(settings(7, 7));
    awaitMinting(lease);
    cutOff = true;
    lease.close();
    assertThat(events).last().isEqualTo(new LeaseEvent.Failed("default", "cut off"));
  }

  /** However long the database takes for it, up to the limit of each request for a lease. */
  @Test
  void theFirstDrawWaitsForTheFirstWorker() {
    // Once is enough: a busy machine may need longer than the limit.
    Awaitility.await().untilAsserted(this::requireThatTheFirstDrawWaits);
  }

  private void requireThatTheFirstDrawWaits() {
    LeaseSettings settings = settings(0, 1_020);
    WorkerLeaseStore store = new WorkerLeaseStore(pool, settings);
    try (WorkerLease lease =
        new WorkerLease(
                settings,
                request -> {
                  LockSupport.parkNanos(300_000_000);
                  return store.send(request);
                },
                LeaseRules.KEPT,
                Waiter.PARKING,
                null,
                events::add)
            .start()) {
      assertThat(lease.next(1)).isInstanceOf(KeyOutcome.Drawn.class);
    }
  }

  @Test
  void aDeadDatabaseAtTheStartIsWaitedFor() {
    cutOff = true;
    try (WorkerLease lease = lease(settings(0, 1_020))) {
      assertThat(lease.next(1)).isInstanceOf(KeyOutcome.Refused.class);
      cutOff = false;
      awaitMinting(lease);
      assertThat(single(lease)).isPositive();
    }
  }

  /** Such as one that misses a class of its own. */
  @Test
  void aDriverThatThrowsAnErrorDoesNotEndTheLease() {
    LeaseSettings settings = settings(0, 1_020);
    WorkerLeaseStore store = new WorkerLeaseStore(pool, settings);
    AtomicInteger requests = new AtomicInteger();
    try (WorkerLease lease =
        new WorkerLease(
                settings,
                request -> {
                  if (requests.getAndIncrement() == 0) {
                    throw new NoClassDefFoundError("as told");
                  }
                  return store.send(request);
                },
                LeaseRules.KEPT,
                Waiter.PARKING,
                null,
                events::add)
            .start()) {
      await()
          .dontCatchUncaughtExceptions()
          .until(() -> lease.reserve(1) instanceof KeyReservation.Some);
      assertThat(events).first().isInstanceOf(LeaseEvent.Failed.class);
    }
  }

  /** The reply tells the time at which it was sent. */
  @Test
  void aSuspensionWhileAReplyIsUnderWayClosesTheWindowEarly() {
    LeaseSettings settings = settings(0, 1_020);
    WorkerLeaseStore store = new WorkerLeaseStore(pool, settings);
    AtomicLong suspendedMillis = new AtomicLong();
    try (WorkerLease _ =
        new WorkerLease(
                settings,
                request -> {
                  LeaseReply reply = store.send(request);
                  if (reply instanceof LeaseReply.Renewed) {
                    suspendedMillis.set(10_000);
                  }
                  return reply;
                },
                LeaseRules.KEPT,
                Waiter.PARKING,
                new WallWatch(
                    () -> suspendedMillis.get() + TimeUnit.NANOSECONDS.toMillis(System.nanoTime())),
                events::add)
            .start()) {
      await().until(() -> events.stream().anyMatch(LeaseEvent.ClosedEarly.class::isInstance));
    }
  }

  /** Such as by an application that interrupts all of its threads. */
  @Test
  void anInterruptOfItsThreadDoesNotEndThePauses() {
    AtomicInteger requests = new AtomicInteger();
    AtomicInteger interrupted = new AtomicInteger();
    try (WorkerLease _ =
        new WorkerLease(
                settings(0, 1_020),
                request -> {
                  if (requests.getAndIncrement() == 0) {
                    Thread.currentThread().interrupt();
                  } else if (Thread.currentThread().isInterrupted()) {
                    interrupted.incrementAndGet();
                  }
                  return new LeaseReply.Failed("as told");
                },
                LeaseRules.KEPT,
                Waiter.PARKING,
                null,
                events::add)
            .start()) {
      await().until(() -> requests.get() >= 3);
    }
    assertThat(interrupted).hasValue(0);
  }
}
