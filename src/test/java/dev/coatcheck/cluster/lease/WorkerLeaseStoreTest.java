package dev.coatcheck.cluster.lease;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.coatcheck.MachineDelay;
import dev.coatcheck.core.key.SnowflakeLayout;
import dev.coatcheck.postgres.sql.TestDatabase;
import dev.coatcheck.postgres.sql.TestSession;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import javax.sql.DataSource;
import org.jooq.SQLDialect;
import org.jooq.impl.DSL;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class WorkerLeaseStoreTest {
  private final LeaseDatabase database = LeaseDatabase.fresh();
  private final HikariDataSource pool = database.pool();

  @AfterEach
  void close() {
    pool.close();
  }

  private static LeaseSettings settings(int firstWorker, int lastWorker, String holder) {
    return new LeaseSettings(SnowflakeLayout.DEFAULT, firstWorker, lastWorker, holder, 3_000);
  }

  private WorkerLeaseStore store(int firstWorker, int lastWorker, String holder) {
    return new WorkerLeaseStore(pool, settings(firstWorker, lastWorker, holder));
  }

  private static LeaseReply.Acquired acquire(WorkerLeaseStore store) {
    return (LeaseReply.Acquired) store.send(new LeaseRequest.Acquire());
  }

  private static LeaseRequest.Renew renewal(LeaseReply.Acquired acquired, long untilMillis) {
    return new LeaseRequest.Renew(acquired.worker(), acquired.epoch(), untilMillis);
  }

  /** Its pool may be an application's, and not every pool mends what it gets back. */
  @Test
  void aConnectionGoesBackAsItCameAfterAFailureToo() throws Exception {
    try (Connection connection = pool.getConnection()) {
      connection.setAutoCommit(false);
      connection.setNetworkTimeout(Runnable::run, 7_000);
      WorkerLeaseStore store = new WorkerLeaseStore(only(connection), settings(5, 5, "a"));

      assertThat(store.send(new LeaseRequest.Acquire())).isInstanceOf(LeaseReply.Acquired.class);
      assertAsItCame(connection);
      database.execute("alter table coatcheck.worker_lease rename to elsewhere");
      try {
        assertThat(store.send(new LeaseRequest.Renew(5, 1, 1)))
            .isInstanceOf(LeaseReply.Failed.class);
      } finally {
        database.execute("alter table coatcheck.elsewhere rename to worker_lease");
      }
      assertAsItCame(connection);
    }
  }

  private static void assertAsItCame(Connection connection) throws SQLException {
    assertThat(connection.getAutoCommit()).isFalse();
    assertThat(connection.getNetworkTimeout()).isEqualTo(7_000);
  }

  /** Lends one connection, which stays open. */
  private static DataSource only(Connection connection) {
    Connection lent =
        (Connection)
            Proxy.newProxyInstance(
                Connection.class.getClassLoader(),
                new Class<?>[] {Connection.class},
                (_, method, arguments) ->
                    method.getName().equals("close") ? null : method.invoke(connection, arguments));
    return (DataSource)
        Proxy.newProxyInstance(
            DataSource.class.getClassLoader(),
            new Class<?>[] {DataSource.class},
            (_, _, _) -> lent);
  }

  @Test
  void aWorkerWithAnOpenWindowIsNotFreeThoughReleased() {
    WorkerLeaseStore store = store(5, 5, "a");
    LeaseReply.Acquired acquired = acquire(store);
    store.send(new LeaseRequest.Release(5, acquired.epoch()));
    assertNoneFree(store, "no worker 5..5 of layout default is free: a left resting 1", 1, 3_001);
    assertThat(store.send(renewal(acquired, acquired.untilMillis())))
        .isEqualTo(new LeaseReply.Gone());
    assertThat(mark(5)).isEqualTo(acquired.untilMillis());
    passMark(5);
    assertThat(acquire(store).nowMillis()).isGreaterThan(acquired.untilMillis() - 3_000);
  }

  @Test
  void exhaustionListsTheHolders() {
    acquire(store(0, 1, "gateway-b"));
    acquire(store(0, 1, "gateway-a"));
    assertNoneFree(
        store(0, 1, "gateway-c"),
        "no worker 0..1 of layout default is free: gateway-a holds 1, gateway-b holds 1",
        1,
        LeaseSettings.LEASE_MILLIS);
  }

  private static void assertNoneFree(
      WorkerLeaseStore store, String reason, long freeInLeast, long freeInMost) {
    assertThat(store.send(new LeaseRequest.Acquire()))
        .isInstanceOfSatisfying(
            LeaseReply.NoneFree.class,
            none -> {
              assertThat(none.reason()).isEqualTo(reason);
              assertThat(none.freeInMillis()).isBetween(freeInLeast, freeInMost);
            });
  }

  @Test
  void theSoonestEndOfARestInTheRangeIsTold() {
    for (int worker = 5; worker <= 7; worker++) {
      acquire(store(worker, worker, "a"));
    }
    database.execute(
        """
        update coatcheck.worker_lease
           set expires_at = 'epoch', granted_until_ms = 0,
               rest_until_ms = floor(extract(epoch from clock_timestamp()) * 1000) + worker * 600000\
        """);
    assertNoneFree(
        store(6, 7, "b"),
        "no worker 6..7 of layout default is free: a left resting 2",
        3_500_000,
        3_600_000);
  }

  @Test
  void aWorkerThatIsRegisteredAfterAFailoverRestsLikeAnyOther() {
    database.execute("update coatcheck.worker_lease_origin set system_identifier = 0");
    WorkerLeaseStore store = store(5, 6, "a");
    assertNoneFree(
        store, "no worker 5..6 of layout default is free: not yet held, resting 2", 1, 15_000);
    assertThat(database.number("select min(rest_until_ms) from coatcheck.worker_lease"))
        .isBetween(now(), now() + 15_000);
    database.execute("update coatcheck.worker_lease set rest_until_ms = null");
    assertThat(acquire(store).epoch()).isEqualTo(1);
  }

  @Test
  void whereNoOriginIsKnownARegisteredWorkerRests() {
    database.execute("truncate coatcheck.worker_lease_origin");
    assertThat(store(5, 6, "a").send(new LeaseRequest.Acquire()))
        .isInstanceOf(LeaseReply.NoneFree.class);
  }

  /** Also where an earlier version registered them. */
  @Test
  void theWorkersOfGivenTimesAreNeverLeased() {
    database.execute(
        """
        insert into coatcheck.worker_lease (layout, worker, timeline, system_identifier)
        select 'default', 127, timeline, system_identifier from coatcheck.key_fence
        """);
    WorkerLeaseStore store = store(125, 128, "a");
    Set<Integer> acquired = new HashSet<>();
    for (int i = 0; i < 3; i++) {
      acquired.add(acquire(store).worker());
    }

    assertThat(acquired).containsExactlyInAnyOrder(125, 126, 128);
    assertThat(store.send(new LeaseRequest.Acquire()))
        .isInstanceOfSatisfying(
            LeaseReply.NoneFree.class, none -> assertThat(none.reason()).endsWith("a holds 3"));
    assertThatThrownBy(() -> store(127, 127, "a")).hasMessageContaining("none of them is leased");
    SnowflakeLayout tiny = SnowflakeLayout.accepted("41/2/20@0");
    assertThat(
            new WorkerLeaseStore(pool, LeaseSettings.of(tiny, "a"))
                .send(new LeaseRequest.Acquire()))
        .isInstanceOf(LeaseReply.Acquired.class);
  }

  /** A statement may last 800 ms. */
  @Test
  void aLayoutThatThePlannerHasNoStatisticsOfIsLeasedAsQuickly() {
    acquire(store(0, 1_020, "a"));
    database.execute("analyze coatcheck.worker_lease");
    try (MachineDelay delay = MachineDelay.measure()) {
      for (SnowflakeLayout layout : List.of(SnowflakeLayout.TWITTER, SnowflakeLayout.REGIONAL)) {
        WorkerLeaseStore store = new WorkerLeaseStore(pool, LeaseSettings.of(layout, "a"));
        assertThat(inTime(store.send(new LeaseRequest.Acquire()), delay))
            .isInstanceOf(LeaseReply.Acquired.class);
        database.execute("update coatcheck.worker_lease set timeline = 0");
        assertThat(inTime(store.send(new LeaseRequest.Acquire()), delay))
            .isInstanceOf(LeaseReply.NoneFree.class);
      }
    }
  }

  @Test
  void holdersAndRestingWorkersAreListed() {
    LeaseReply.Acquired held = acquire(store(7, 7, "a"));
    LeaseReply.Acquired left = acquire(store(8, 8, "b"));
    store(8, 8, "b").send(new LeaseRequest.Release(8, left.epoch()));
    List<WorkerState> listed = WorkerStore.list(DSL.using(pool, SQLDialect.POSTGRES));
    assertThat(listed).hasSize(2);
    assertThat(listed.get(0).standing())
        .isInstanceOfSatisfying(
            WorkerState.Standing.Held.class,
            standing -> {
              assertThat(standing.holder()).isEqualTo("a");
              assertThat(standing.grantedUntil().toEpochMilli()).isEqualTo(held.untilMillis());
              assertThat(standing.expiresAt().toEpochMilli())
                  .isEqualTo(held.nowMillis() + LeaseSettings.LEASE_MILLIS);
            });
    assertThat(listed.get(1).standing())
        .isInstanceOfSatisfying(
            WorkerState.Standing.Resting.class,
            standing ->
                assertThat(standing.until().toEpochMilli()).isEqualTo(left.untilMillis() + 1));
  }

  @Test
  void racingAcquiresNeverShareAWorker() throws Exception {
    Set<Integer> workers = ConcurrentHashMap.newKeySet();
    List<Future<LeaseReply>> running = new ArrayList<>();
    try (MachineDelay delay = MachineDelay.measure();
        HikariDataSource wide = new HikariDataSource(wide());
        ExecutorService threads = Executors.newFixedThreadPool(16)) {
      for (int i = 0; i < 200; i++) {
        WorkerLeaseStore store = new WorkerLeaseStore(wide, settings(0, 149, "racer"));
        running.add(threads.submit(() -> store.send(new LeaseRequest.Acquire())));
      }
      for (Future<LeaseReply> future : running) {
        if (inTime(future.get(), delay) instanceof LeaseReply.Acquired acquired) {
          assertThat(workers.add(acquired.worker())).isTrue();
        } else {
          assertThat(future.get()).isInstanceOf(LeaseReply.NoneFree.class);
        }
      }
    }
    // A row that someone else has locked is passed over, so the last ones may see none.
    assertThat(workers).hasSizeBetween(140, 150);
  }

  /** The reply; skips the test if it is a failure of a machine that is late. */
  private static LeaseReply inTime(LeaseReply reply, MachineDelay delay) {
    if (reply instanceof LeaseReply.Failed) {
      delay.requireTimely();
    }
    return reply;
  }

  private HikariConfig wide() {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(database.server().url());
    config.setUsername(database.server().user());
    config.setPassword(database.server().password());
    config.setMaximumPoolSize(16);
    return config;
  }

  @Test
  void aStatementThatHangsIsGivenUpAndDoesNoHarmLater() throws Exception {
    WorkerLeaseStore store = store(5, 5, "a");
    LeaseReply.Acquired acquired = acquire(store);
    try (MachineDelay delay = MachineDelay.measure();
        TestSession blocker = database.server().sql().session()) {
      blocker.begin("select * from coatcheck.worker_lease for update");
      long started = System.nanoTime();
      assertThat(store.send(renewal(acquired, acquired.untilMillis())))
          .isInstanceOf(LeaseReply.Failed.class);
      Duration took = Duration.ofNanos(System.nanoTime() - started);
      assertThat(took).isGreaterThanOrEqualTo(Duration.ofMillis(700));
      delay.requireWithin(Duration.ofMillis(1_800), took);
      blocker.execute("update coatcheck.worker_lease set epoch = 9, granted_until_ms = 9e12");
      blocker.commit();
    }
    await().until(() -> othersAtWork() == 0);
    assertThat(mark(5)).isEqualTo(9_000_000_000_000L);
  }

  @Test
  void aDatabaseThatIsGoneIsAReplyWithinItsTime() {
    long started = System.nanoTime();
    try (MachineDelay delay = MachineDelay.measure();
        HikariDataSource nowhere =
            LeaseDatabase.pool(
                new TestDatabase("jdbc:postgresql://127.0.0.1:1/none", "none", ""))) {
      WorkerLeaseStore store = new WorkerLeaseStore(nowhere, settings(5, 5, "a"));
      assertThat(store.send(new LeaseRequest.Acquire())).isInstanceOf(LeaseReply.Failed.class);
      delay.requireWithin(Duration.ofSeconds(3), Duration.ofNanos(System.nanoTime() - started));
    }
  }

  private LeaseSettings windowed(int worker, long windowMillis) {
    return new LeaseSettings(SnowflakeLayout.DEFAULT, worker, worker, "a", windowMillis);
  }

  @Test
  void aHolderWithAnotherWindowIsRefused() {
    acquire(store(5, 5, "a"));
    WorkerLeaseStore other = new WorkerLeaseStore(pool, windowed(6, 60_000));
    assertNoneFree(
        other,
        "all holders of workers have one window, which is 3000 ms in this database and 60000 ms"
            + " here",
        1_000,
        1_000);
    LeaseReply.Acquired any =
        acquire(new WorkerLeaseStore(pool, windowed(6, LeaseSettings.WINDOW_OF_THE_DATABASE)));
    assertThat(any.untilMillis() - any.nowMillis()).isEqualTo(3_000);
  }

  @Test
  void aRunningHolderTakesANewWindowWithItsRenewal() {
    WorkerLeaseStore store = store(5, 5, "a");
    LeaseReply.Acquired acquired = acquire(store);
    database.execute("update coatcheck.lease_window set window_ms = 20000, longest_ms = 20000");
    assertThat(store.send(renewal(acquired, acquired.untilMillis())))
        .isInstanceOfSatisfying(
            LeaseReply.Renewed.class,
            renewed -> assertThat(renewed.untilMillis() - renewed.nowMillis()).isEqualTo(20_000));
  }

  @Test
  void restsAreMeasuredByTheLongestWindowEverSet() {
    acquire(store(5, 5, "a"));
    database.execute("update coatcheck.lease_window set longest_ms = 60000");
    database.execute("update coatcheck.worker_lease set timeline = 0, expires_at = 'epoch'");
    assertThat(store(5, 5, "a").send(new LeaseRequest.Acquire()))
        .isInstanceOf(LeaseReply.NoneFree.class);
    assertThat(database.number("select rest_until_ms from coatcheck.worker_lease") - now())
        .isBetween(67_000L, 72_000L);
  }

  /** Sessions in the middle of a statement or of a transaction. */
  private long othersAtWork() {
    return database.number(
        "select count(*) from pg_stat_activity where datname = current_database()"
            + " and pid <> pg_backend_pid() and backend_type = 'client backend'"
            + " and state <> 'idle'");
  }

  private long now() {
    return database.number("select floor(extract(epoch from clock_timestamp()) * 1000)");
  }

  private long mark(int worker) {
    return database.number(
        "select granted_until_ms from coatcheck.worker_lease where worker = " + worker);
  }

  /** As if the window had passed; real keys are not made here. */
  private void passMark(int worker) {
    database.execute(
        "update coatcheck.worker_lease set granted_until_ms = granted_until_ms - 3600000 where"
            + " worker = "
            + worker);
  }
}
