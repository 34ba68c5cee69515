package dev.coatcheck.postgres.session;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.coatcheck.MachineDelay;
import dev.coatcheck.cluster.lease.FaultProxy;
import dev.coatcheck.cluster.lease.FaultProxy.Trap;
import dev.coatcheck.postgres.connection.DatabaseSettings;
import dev.coatcheck.postgres.sql.DatabaseUnavailable;
import dev.coatcheck.postgres.sql.TestDatabase;
import dev.coatcheck.postgres.sql.TestSession;
import java.io.IOException;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A statement without a bound of time, behind a network that swallows what it likes. */
class StatementWatchdogTest {
  private static final WatchTimeouts SHORT = new WatchTimeouts(200, 1_000, 2_000, 1_000);
  private static final String SLOW = "select pg_sleep(3600)";

  private final TestDatabase database = TestDatabase.empty();
  private final LinkedBlockingQueue<Optional<LockWait>> waits = new LinkedBlockingQueue<>();
  private FaultProxy proxy;

  @BeforeEach
  void listen() throws IOException {
    proxy = new FaultProxy(database.port());
  }

  @AfterEach
  void close() throws IOException {
    proxy.close();
  }

  @Test
  void aStatementIsGivenUpWhenTheWholeNetworkIsSilent() {
    proxy.freezeAt(new Trap("pg_sleep", true, true));

    requireGivenUp(SHORT, SLOW, "the server gives no answer for");
  }

  @Test
  @Tag("faults")
  @Tag("alone")
  void withTheRealBoundsThatTakesLessThanAMinute() {
    proxy.freezeAt(new Trap("pg_sleep", true, true));
    try (MachineDelay delay = MachineDelay.measure()) {
      long beganNano = System.nanoTime();

      requireGivenUp(WatchTimeouts.DEFAULT, SLOW, "the server gives no answer for 3");

      Duration took = Duration.ofNanos(System.nanoTime() - beganNano);
      assertThat(took).isGreaterThan(Duration.ofSeconds(29));
      delay.requireWithin(Duration.ofMinutes(1), took);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aStatementIsGivenUpWhenItsAnswerWasLostOrItNeverArrived(boolean hasArrived) {
    proxy.freezeAt(new Trap("select 42", hasArrived, false));

    requireGivenUp(SHORT, "select 42", "its answer is lost");
  }

  @Test
  void aStatementIsGivenUpWhenItsProcessIsGoneAndNobodySaidSo() throws Exception {
    proxy.freezeAt(new Trap("pg_sleep", true, false));
    CompletableFuture<Void> given =
        CompletableFuture.runAsync(
            () -> requireGivenUp(SHORT, SLOW, "is gone from the server"),
            Thread::startVirtualThread);
    Awaitility.await().until(() -> proxy.isTrapped() && isAsleep());

    database
        .sql()
        .execute(
            "select pg_terminate_backend(pid) from pg_stat_activity"
                + " where query like '%pg_sleep(3600)%' and pid <> pg_backend_pid()"
                + " and datname = current_database()");

    given.get();
  }

  /** For longer than anything is believed that gives no sign of life. */
  @Test
  void aStatementThatWorksIsLeftAloneHoweverLongItTakes() {
    try (Session one = open(SHORT);
        Session other = open(SHORT)) {
      CompletableFuture<Void> alone = slowly(one);
      other.longTransaction("test", sql -> sql.execute("select pg_sleep(4)"));
      alone.join();
    }
    assertThat(waits).isEmpty();
  }

  /** By an administrator who ends what is idle, for instance. */
  @Test
  @Tag("faults")
  @Tag("alone")
  void aWatchThatIsEndedWatchesOnAndTheStatementIsLeftAlone() {
    try (Session session = open(SHORT)) {
      CompletableFuture<Void> sent = slowly(session);
      Set<Long> ended = new HashSet<>();
      Awaitility.await()
          .pollInterval(Duration.ofMillis(20))
          .until(
              () -> {
                ended.addAll(endWatchesThatHaveAsked());
                return sent.isDone();
              });
      sent.join();
      assertThat(ended).as("watching processes").hasSizeGreaterThan(2);
    }
  }

  private List<Long> endWatchesThatHaveAsked() {
    return database
        .sql()
        .numbers(
            "with watch as materialized (select pid from pg_stat_activity"
                + " where application_name = 'watch of watched' and state = 'idle'"
                + " and query like '%pg_blocking_pids%' and datname = current_database())"
                + " select pid from watch where pg_terminate_backend(pid)");
  }

  /** A server that refuses the second connection for want of room answers, too. */
  @Test
  void aServerWithoutRoomForTheWatchIsNotSilent() {
    String role = "watched_" + Long.toUnsignedString(ThreadLocalRandom.current().nextLong(), 36);
    database.sql().execute("create role " + role + " login connection limit 1 password 'watched'");
    try {
      try (Session session =
          open(new DatabaseSettings(database.url(), role, "watched", 1), SHORT)) {
        slowly(session).join();
      }
    } finally {
      database.sql().execute("drop role " + role);
    }
  }

  /** For longer than a silence is borne. */
  private static CompletableFuture<Void> slowly(Session session) {
    return CompletableFuture.runAsync(
        () -> session.alone("test", "select pg_sleep(4)"), Thread::startVirtualThread);
  }

  @Test
  void whatAStatementWaitsForIsToldWithTheSessionInItsWay() throws Exception {
    database.sql().execute("create table held (n int)");
    try (TestSession holder = database.sql().session();
        Session session = open(SHORT)) {
      holder.execute("set application_name = 'a long report'").begin("lock table held");
      int pid = holder.pid();
      CompletableFuture<Void> waiting =
          CompletableFuture.runAsync(
              () -> session.alone("the change", "alter table public.held add column m int"),
              Thread::startVirtualThread);

      LockWait wait = nextWait().orElseThrow();

      assertThat(wait.operation()).isEqualTo("the change");
      assertThat(wait.event()).isEqualTo("waiting for a lock (relation)");
      assertThat(wait.sessions()).hasSize(1);
      LockWait.BlockingSession blocker = wait.sessions().getFirst();
      assertThat(blocker.pid()).isEqualTo(pid);
      assertThat(blocker.user()).isEqualTo(database.user());
      assertThat(blocker.application()).isEqualTo("a long report");
      assertThat(blocker.state()).isEqualTo("idle in transaction");
      assertThat(blocker.since()).isNotNull();
      assertThat(wait.text())
          .contains("process " + pid, "a long report", "idle in transaction", "the change");
      holder.commit();
      waiting.get();
      while (waits.size() > 1) {
        waits.remove();
      }
      assertThat(nextWait()).isEmpty();
    }
  }

  /** What an interrupted answer left behind would be the answer to the next statement. */
  @Test
  @Timeout(value = 2, unit = TimeUnit.MINUTES, threadMode = ThreadMode.SEPARATE_THREAD)
  void aSessionThatWasGivenUpStaysSo() {
    proxy.freezeAt(new Trap("select 42", true, false));
    try (Session session = open(SHORT)) {
      assertThatThrownBy(() -> session.alone("test", "select 42"))
          .isInstanceOf(DatabaseUnavailable.class);

      assertThatThrownBy(() -> session.alone("next", "select 43"))
          .isInstanceOf(DatabaseUnavailable.class)
          .rootCause()
          .hasMessageContaining("the connection broke before next");
    }
  }

  private Optional<LockWait> nextWait() throws InterruptedException {
    return requireNonNull(waits.poll(2, TimeUnit.MINUTES), "nothing was told");
  }

  private void requireGivenUp(WatchTimeouts timeouts, String statement, String why) {
    try (Session session = open(timeouts)) {
      CompletableFuture<Void> sent =
          CompletableFuture.runAsync(
              () -> session.alone("the statement", statement), Thread::startVirtualThread);
      try {
        assertThat(sent)
            .failsWithin(Duration.ofMinutes(2))
            .withThrowableOfType(ExecutionException.class)
            .withCauseInstanceOf(DatabaseUnavailable.class)
            .havingRootCause()
            .withMessageContaining("the statement was given up: ")
            .withMessageContaining(why);
      } finally {
        proxy.cut(); // Else a statement that is not given up keeps the session open for ever.
      }
    }
    assertThat(proxy.isTrapped()).isTrue();
  }

  private Session open(WatchTimeouts timeouts) {
    return open(database.behind(proxy.port()).settings(1), timeouts);
  }

  private Session open(DatabaseSettings settings, WatchTimeouts timeouts) {
    return Session.openWatched(settings, "watched", timeouts, waits::add);
  }

  private boolean isAsleep() {
    return !database
        .sql()
        .texts(
            "select pid from pg_stat_activity where query like '%pg_sleep(3600)%'"
                + " and state = 'active' and pid <> pg_backend_pid()"
                + " and datname = current_database()")
        .isEmpty();
  }
}
