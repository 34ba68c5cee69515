package dev.coatcheck.postgres.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.coatcheck.MachineDelay;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.postgres.connection.DatabaseSettings;
import dev.coatcheck.postgres.connection.Deadline;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class DeadlineTest {
  private static final int CONNECTIONS = 2;
  private static final Duration PROMISED = Duration.ofSeconds(1);
  private static final TestDatabase FRESH = TestDatabase.empty();
  private static final DatabaseSettings SETTINGS = FRESH.settings(CONNECTIONS);
  private static final Database DATABASE = Database.open(SETTINGS, "unbounded", new Observer());
  private static final Database BOUNDED =
      Database.open(SETTINGS.boundedIfPossible(), "bounded", new Observer());

  /** The first deadline that passes loads classes, which takes time on a busy machine. */
  @BeforeAll
  static void passADeadline() {
    assertThatThrownBy(
            () ->
                Deadline.after(Duration.ofMillis(100))
                    .run(() -> DATABASE.write("test", sql -> sql.execute("select pg_sleep(60)"))))
        .isInstanceOf(DatabaseUnavailable.class);
  }

  @AfterAll
  static void close() {
    DATABASE.close();
    BOUNDED.close();
  }

  @Test
  void aStatementWithoutAnAnswerEndsAtTheDeadlineAndItsConnectionWithIt() throws Exception {
    backend();
    for (int connection = 0; connection < 2 * CONNECTIONS; connection++) {
      requireInTime(
          () -> DATABASE.write("test", sql -> sql.execute("select pg_sleep(60)")),
          DatabaseUnavailable.class);
    }

    for (int i = 0; i < 1_000; i++) {
      int number = i;
      assertThat(
              DATABASE.<Integer>read(
                  "test",
                  sql ->
                      sql.fetchSingle("select {0}", org.jooq.impl.DSL.val(number))
                          .get(0, int.class)))
          .isEqualTo(number);
    }
  }

  @Test
  void anOuterDeadlineIsNeverPutOff() {
    Deadline inner = Deadline.after(Duration.ofHours(2));
    Deadline outer = Deadline.after(Duration.ofHours(1));

    assertThat(inner.orEarlier()).isEqualTo(inner);
    outer.run(() -> assertThat(inner.orEarlier()).isEqualTo(outer));
    inner.run(() -> assertThat(outer.orEarlier()).isEqualTo(outer));
    outer.run(() -> Deadline.lasting(() -> assertThat(inner.orEarlier()).isEqualTo(inner)));
  }

  @Test
  void severalStatementsShareOneDeadline() throws Exception {
    requireInTime(
        () ->
            DATABASE.write(
                "test",
                sql -> {
                  for (int i = 0; i < 100; i++) {
                    sql.execute("select pg_sleep(0.1)");
                  }
                  return true;
                }),
        DatabaseUnavailable.class);
  }

  @Test
  void whoFindsThePoolFullIsToldInTime() throws Exception {
    CountDownLatch held = new CountDownLatch(CONNECTIONS);
    CountDownLatch release = new CountDownLatch(1);
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<Boolean>> holders = new ArrayList<>();
      try {
        for (int i = 0; i < CONNECTIONS; i++) {
          holders.add(
              threads.submit(
                  () ->
                      Deadline.after(Duration.ofMinutes(5))
                          .call(
                              () ->
                                  DATABASE.write(
                                      "test",
                                      sql -> {
                                        held.countDown();
                                        await(release);
                                        return true;
                                      }))));
        }
        held.await();
        requireInTime(DeadlineTest::backend, DatabaseUnavailable.class);
        requireInTime(
            () -> Deadline.after(Duration.ofMinutes(1)).call(DeadlineTest::backend),
            DatabaseUnavailable.class);
      } finally {
        release.countDown();
      }
      for (Future<Boolean> holder : holders) {
        assertThat(holder.get()).isTrue();
      }
    }
    backend();
  }

  @Test
  void theServerGivesUpBeforeWeDoAndTheConnectionStays() {
    int backend = backend(BOUNDED);

    assertThatThrownBy(
            () -> BOUNDED.<Integer>read("test", sql -> sql.execute("select pg_sleep(60)")))
        .isInstanceOf(DatabaseUnavailable.class)
        .hasStackTraceContaining("statement timeout");

    assertThat(backend(BOUNDED)).isEqualTo(backend);
    assertThat(ServerCheck.missingBounds(BOUNDED)).isEmpty();
  }

  @Test
  void nothingThatOthersCreatedIsFound() {
    assertThat(BOUNDED.<Object>read("test", sql -> sql.fetchValue("show search_path")))
        .isEqualTo("pg_catalog,pg_temp");
  }

  /** Below the 10 s after which its connection is given up, and with it no statement waits on. */
  @Test
  void aJobWithALaterDeadlineHasItsOwnTimeOuts() {
    Deadline.after(Duration.ofSeconds(60))
        .run(
            () -> {
              assertThat(millis("statement_timeout")).isEqualTo(9_000);
              assertThat(millis("lock_timeout")).isEqualTo(9_000);
            });

    assertThat(millis("statement_timeout")).isEqualTo(850);
    assertThat(millis("lock_timeout")).isEqualTo(700);
  }

  @Test
  void theStartSaysWhichTimeOutsAreMissing() {
    assertThat(ServerCheck.missingBounds(DATABASE).orElseThrow())
        .contains("alter role " + FRESH.user() + " in database ")
        .contains("set statement_timeout = '850ms'")
        .contains("set lock_timeout = '700ms'")
        .contains("set search_path = pg_catalog, pg_temp");
  }

  private static int millis(String setting) {
    String value =
        BOUNDED.read(
            "test",
            sql ->
                sql.fetchSingle(
                        "select (extract(epoch from current_setting({0})::interval) *"
                            + " 1000)::int::text",
                        org.jooq.impl.DSL.val(setting))
                    .get(0, String.class));
    return Integer.parseInt(value);
  }

  private interface Ask {
    void run() throws Exception;
  }

  private static void requireInTime(Ask ask, Class<? extends Exception> failure) {
    try (MachineDelay delay = MachineDelay.measure()) {
      long from = System.nanoTime();
      assertThatThrownBy(() -> Deadline.ofAnswer().<Exception>run(ask::run)).isInstanceOf(failure);
      delay.requireWithin(PROMISED, Duration.ofNanos(System.nanoTime() - from));
    }
  }

  private static int backend() {
    return backend(DATABASE);
  }

  private static int backend(Database database) {
    return database.read(
        "test", sql -> sql.fetchSingle("select pg_backend_pid()").get(0, Integer.class));
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException stopping) {
      Thread.currentThread().interrupt();
    }
  }
}
