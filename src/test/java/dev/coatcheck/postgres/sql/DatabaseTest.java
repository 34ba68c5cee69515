package dev.coatcheck.postgres.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.coatcheck.MachineDelay;
import dev.coatcheck.cluster.lease.FaultProxy;
import dev.coatcheck.core.attempt.NonBlockingAttempt;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.postgres.connection.DatabaseSettings;
import dev.coatcheck.postgres.connection.Deadline;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.jooq.exception.DataAccessException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DatabaseTest {
  private static final TestDatabase FRESH = TestDatabase.empty();
  private static final Observer OBSERVER = new Observer();
  private static final Database DATABASE = Database.open(FRESH.settings(2), "test", OBSERVER);

  @AfterAll
  static void close() {
    DATABASE.close();
  }

  @ParameterizedTest
  @ValueSource(strings = {"57014", "57P01", "08006", "53300", "58030", "25006"})
  void whatTimeMayHealIsAnOutage(String state) {
    assertThatThrownBy(() -> DATABASE.write("test", sql -> sql.execute(raise(state))))
        .isInstanceOf(DatabaseUnavailable.class);
    assertThat(OBSERVER.scrape())
        .contains("coatcheck_database_failures_total{sqlstate=\"" + state + "\"}");
  }

  @Test
  void aLockThatIsNotToBeHadInTimeIsNoOutageButPasses() {
    assertThatThrownBy(() -> DATABASE.write("test", sql -> sql.execute(raise("55P03"))))
        .isInstanceOf(LockTimeout.class);
    assertThat(OBSERVER.scrape())
        .contains("coatcheck_database_lock_timeouts_total{operation=\"test\"} 1.0");
  }

  @ParameterizedTest
  @ValueSource(strings = {"42P01", "23505", "22003"})
  void whatIsOurFaultIsNot(String state) {
    assertThatThrownBy(() -> DATABASE.write("test", sql -> sql.execute(raise(state))))
        .isInstanceOf(DataAccessException.class);
  }

  @ParameterizedTest
  @ValueSource(strings = {"40001", "40P01"})
  void aTransactionThatWasRolledBackIsRunAgain(String state) {
    AtomicInteger runs = new AtomicInteger();

    int done =
        DATABASE.write(
            "test",
            sql -> {
              if (runs.incrementAndGet() < 3) {
                sql.execute(raise(state));
              }
              return runs.get();
            });

    assertThat(done).isEqualTo(3);
  }

  @Test
  void oneThatIsRolledBackForEverEndsAsAnOutage() {
    AtomicInteger runs = new AtomicInteger();

    assertThatThrownBy(
            () ->
                DATABASE.write(
                    "test",
                    sql -> {
                      runs.incrementAndGet();
                      return sql.execute(raise("40P01"));
                    }))
        .isInstanceOf(DatabaseUnavailable.class);
    assertThat(runs).hasValue(4);
  }

  @Test
  void aReadSurvivesAConnectionThatHasDied() {
    AtomicInteger runs = new AtomicInteger();

    assertThat(
            DATABASE.<Integer>read(
                "test",
                sql -> {
                  if (runs.getAndIncrement() == 0) {
                    sql.execute("select pg_terminate_backend(pg_backend_pid())");
                  }
                  return sql.fetchCount(sql.selectOne());
                }))
        .isEqualTo(1);
    assertThat(runs).hasValue(2);
  }

  @Test
  void nobodyIsWaitedForLongerThanASecond() {
    try (MachineDelay delay = MachineDelay.measure();
        Database nobody =
            Database.open(
                new DatabaseSettings("jdbc:postgresql://127.0.0.1:1/none", "me", "", 2),
                "nobody",
                OBSERVER)) {
      assertThat(TestDatabase.isReachable(nobody)).isFalse();
      long from = System.nanoTime();

      assertThat(TestDatabase.isReachable(nobody)).isFalse();

      delay.requireWithin(Duration.ofSeconds(1), Duration.ofNanos(System.nanoTime() - from));
    }
  }

  @Test
  void aPlanWaitsLongerThanASecondForTheFirstConnectionOfItsSource() throws Exception {
    try (FaultProxy proxy = new FaultProxy(FRESH.port());
        Database source =
            Database.openPinned(FRESH.behind(proxy.port()).settings(2), "source", OBSERVER);
        ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      proxy.freeze(true);
      Future<Integer> planned =
          threads.submit(
              () ->
                  Deadline.after(Duration.ofMinutes(1))
                      .call(() -> source.read("inspect", sql -> sql.fetchCount(sql.selectOne()))));

      assertThatThrownBy(() -> planned.get(1_500, TimeUnit.MILLISECONDS))
          .isInstanceOf(TimeoutException.class);
      proxy.freeze(false);

      assertThat(planned.get()).isEqualTo(1);
    }
  }

  @Test
  void workThatMustNotWaitNeverUsesPostgres() {
    AtomicInteger asked = new AtomicInteger();
    NonBlockingAttempt<Integer> work =
        new NonBlockingAttempt<>(() -> DATABASE.read("count", _ -> asked.incrementAndGet()));

    assertThat(work.run()).isInstanceOf(NonBlockingAttempt.Outcome.Left.class);
    assertThat(asked).hasValue(0);
  }

  private static String raise(String state) {
    return "do $$ begin raise exception 'as told' using errcode = '" + state + "'; end $$";
  }
}
