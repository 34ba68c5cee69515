package dev.coatcheck.postgres.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.postgres.connection.BrokenOff;
import dev.coatcheck.postgres.connection.Connections;
import dev.coatcheck.postgres.connection.DatabaseSettings;
import dev.coatcheck.postgres.connection.SqlState;
import dev.coatcheck.postgres.session.Session;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.IntSupplier;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jooq.DSLContext;
import org.jooq.ExecuteListener;
import org.jooq.exception.DataAccessException;
import org.jooq.impl.DSL;
import org.jooq.impl.SQLDataType;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which connections are used again: the pool has one, and Postgres says which it is. */
class BrokenOffTest {
  private static final String MANY_ROWS =
      "copy (select n, repeat('x', 100) from generate_series(1, 1000000) n) to stdout";
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final DatabaseSettings SETTINGS = TestDatabase.empty().settings(1);
  private static final Observer OBSERVER = new Observer();
  private static final Database DATABASE = Database.open(SETTINGS, "broken-off", OBSERVER);

  @AfterAll
  static void close() {
    DATABASE.close();
  }

  @ParameterizedTest
  @ValueSource(strings = {"57014", "55P03", "23505", "40P01", "XX000"})
  void anErrorOfTheServerLeavesTheConnectionInUse(String state) {
    requireKept(
        () -> DATABASE.read("test", sql -> sql.execute(raise(state))), RuntimeException.class, "");
    requireKept(() -> write(sql -> sql.execute(raise(state))), RuntimeException.class, "");
  }

  @Test
  void aRollbackOfOursLeavesTheConnectionInUse() {
    requireKept(
        () ->
            write(
                sql -> {
                  sql.execute("select 1");
                  throw new IllegalStateException("not these");
                }),
        IllegalStateException.class,
        "not these");
  }

  @Test
  void anErrorOfTheServerInACopyLeavesTheConnectionInUse() {
    requireKept(
        () -> write(sql -> Copy.in(sql, "copy nothing from stdin", new byte[1], 1)),
        DataAccessException.class,
        "nothing");
    byte[] rows = "1\nx\n".getBytes(StandardCharsets.US_ASCII);
    requireKept(
        () ->
            write(
                sql -> {
                  sql.execute("create temp table one (n int) on commit drop");
                  Copy.in(sql, "copy one from stdin", rows, rows.length);
                }),
        DataAccessException.class,
        "invalid input syntax");
  }

  @Test
  void aCopyThatNobodyReadsOnEndsItsConnection() {
    requireEnded(
        () -> write(sql -> copyUntil(sql, 3, new IOException("reader gone"))),
        UncheckedIOException.class,
        "reader gone");
  }

  @Test
  void aDefectInTheMiddleOfACopyEndsItsConnection() {
    requireEnded(
        () ->
            write(
                sql ->
                    Copy.out(
                        sql,
                        MANY_ROWS,
                        PATIENCE,
                        PATIENCE,
                        _ -> {
                          throw new IllegalStateException("a defect");
                        })),
        RuntimeException.class,
        "a defect");
  }

  @Test
  void aSilentCopyEndsItsConnection() {
    Duration silence = Duration.ofMillis(100);
    requireEnded(
        () ->
            write(
                sql ->
                    Copy.out(
                        sql, "copy (select pg_sleep(60)) to stdout", silence, PATIENCE, _ -> {})),
        DatabaseUnavailable.class,
        "");
  }

  private static void requireKept(
      ThrowingCallable work, Class<? extends Throwable> failure, String message) {
    int before = backend();
    assertThatThrownBy(work).isInstanceOf(failure).hasMessageContaining(message);
    assertThat(backend()).isEqualTo(before);
  }

  private static void requireEnded(
      ThrowingCallable work, Class<? extends Throwable> failure, String message) {
    int before = backend();
    assertThatThrownBy(work).isInstanceOf(failure).hasMessageContaining(message);
    assertThat(backend()).isNotEqualTo(before);
    assertTheNextAnswersAreRight();
  }

  @Test
  void anInterruptEndsTheConnection() throws Exception {
    int before = backend();
    CountDownLatch begun = new CountDownLatch(1);
    AtomicReference<Throwable> thrown = new AtomicReference<>();
    Thread reader =
        Thread.ofVirtual()
            .start(
                () -> {
                  begun.countDown();
                  try {
                    write(sql -> sql.execute("select pg_sleep(60)"));
                  } catch (RuntimeException broken) {
                    thrown.set(broken);
                  }
                });
    begun.await();
    try (Session other = Session.open(SETTINGS, "watcher")) {
      while (!other.transaction("watch", sql -> sleeps(sql, before))) {
        Thread.onSpinWait();
      }
    }
    reader.interrupt();
    reader.join();

    assertThat(thrown.get()).isInstanceOf(DatabaseUnavailable.class);
    assertThat(backend()).isNotEqualTo(before);
    assertTheNextAnswersAreRight();
  }

  /** As when the answer is the one to another question. */
  @Test
  void anAnswerThatMakesNoSenseEndsTheConnection() {
    requireEnded(
        () ->
            DATABASE.read(
                "test",
                sql -> sql.select(DSL.field("'read committed'", SQLDataType.BIGINT)).fetch()),
        RuntimeException.class,
        "");
  }

  /** The alert on mix-ups is for answers of Postgres only. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aBugOfOursIsThrownAsItIsAndNeverTakenForAMixUp(boolean isStatement) {
    AtomicInteger runs = new AtomicInteger();
    Function<DSLContext, Integer> bug =
        sql -> {
          runs.incrementAndGet();
          backend(sql);
          if (isStatement) {
            return PlainSql.rows(sql, "select 'text'", row -> row.getInt(1)).getFirst();
          }
          throw new NullPointerException("a bug");
        };
    List<ThrowingCallable> uses =
        List.of(
            () -> DATABASE.read("bug", bug),
            () -> DATABASE.write("bug", bug),
            () -> DATABASE.writeAlone("bug", bug));

    for (ThrowingCallable use : uses) {
      backend();
      assertThatThrownBy(use)
          .isNotInstanceOf(DatabaseUnavailable.class)
          .hasStackTraceContaining(isStatement ? "Bad value for type int" : "a bug");
    }
    assertThat(runs).hasValue(uses.size());
    assertNoMixUp();
  }

  /** The driver may then fail with anything. */
  @Test
  void aConnectionThatAnotherThreadBrokeOffIsAnOutage() {
    AtomicInteger runs = new AtomicInteger();
    Function<DSLContext, Integer> broken =
        sql -> {
          runs.incrementAndGet();
          return sql.configuration()
              .deriveAppending(
                  ExecuteListener.onExecuteStart(
                      statement -> {
                        BrokenOff.close(statement.connection());
                        throw new NullPointerException("in the driver");
                      }))
              .dsl()
              .selectOne()
              .execute();
        };

    for (ThrowingCallable use :
        List.<ThrowingCallable>of(
            () -> DATABASE.write("broken", broken), () -> DATABASE.writeAlone("broken", broken))) {
      backend();
      assertThatThrownBy(use).isInstanceOf(DatabaseUnavailable.class);
    }
    assertThat(runs).hasValue(2);
    assertNoMixUp();
    assertTheNextAnswersAreRight();
  }

  private static void assertNoMixUp() {
    assertThat(OBSERVER.scrape()).doesNotContain("coatcheck_database_mixups_total{");
  }

  /** Hikari takes a connection apart at once that it evicts, so nothing more can be reset on it. */
  @Test
  void anEvictedConnectionIsNotGivenBackAsWell() {
    assertThatThrownBy(
            () ->
                write(
                    sql -> {
                      sql.connection(BrokenOff::close);
                      throw new IllegalStateException("not these");
                    }))
        .isInstanceOf(IllegalStateException.class)
        .hasNoSuppressedExceptions();

    assertThat(DATABASE.pool().getHikariPoolMXBean().getActiveConnections()).isZero();
    assertTheNextAnswersAreRight();
  }

  @Test
  void anErrorInTheMiddleOfAStatementEndsTheConnection() {
    for (boolean transaction : new boolean[] {false, true}) {
      int before = backend();
      Function<DSLContext, Integer> broken =
          sql ->
              sql.configuration()
                  .deriveAppending(
                      ExecuteListener.onExecuteStart(
                          _ -> {
                            throw new StackOverflowError();
                          }))
                  .dsl()
                  .selectOne()
                  .execute();

      assertThatThrownBy(
              () ->
                  retried(
                      () ->
                          transaction
                              ? DATABASE.write("test", broken)
                              : DATABASE.read("test", broken)))
          .isInstanceOf(StackOverflowError.class);

      assertThat(backend()).as("transaction: %s", transaction).isNotEqualTo(before);
    }
  }

  /** Why the pool is told by {@link Connections}, which holds Hikari's own. */
  @Test
  void hikariEvictsNothingThroughAWrapper() {
    int before = backend();

    DATABASE.read(
        "test",
        sql ->
            sql.configuration()
                .deriveAppending(
                    ExecuteListener.onExecuteEnd(
                        statement -> DATABASE.pool().evictConnection(statement.connection())))
                .dsl()
                .selectOne()
                .fetch());

    assertThat(backend()).isEqualTo(before);
  }

  /** Hikari doesn't test a connection that was used less than half a second ago. */
  @Test
  void aClosedConnectionIsNotHandedOutAgain() {
    int before = backend();

    DATABASE.read(
        "test",
        sql -> {
          sql.connection(BrokenOff::close);
          return true;
        });

    assertThat(retried(() -> DATABASE.<Integer>write("test", BrokenOffTest::backend)))
        .isNotEqualTo(before);
  }

  @Test
  void aSessionConnectsAgainAfterABrokenCopyAndNotAfterAnErrorOfTheServer() {
    try (Session session = Session.open(SETTINGS, "session")) {
      int before = session.transaction("test", BrokenOffTest::backend);
      assertThatThrownBy(() -> session.transaction("test", sql -> sql.execute(raise("57014"))))
          .isInstanceOf(StatementTimeout.class);
      assertThat(session.<Integer>transaction("test", BrokenOffTest::backend)).isEqualTo(before);

      assertThatThrownBy(
              () ->
                  session.transaction(
                      "test",
                      sql -> {
                        copyUntil(sql, 3, new IOException("reader gone"));
                        return true;
                      }))
          .isInstanceOf(UncheckedIOException.class);

      assertThat(session.<Integer>transaction("test", BrokenOffTest::backend)).isNotEqualTo(before);
      for (int i = 0; i < 1_000; i++) {
        assertThat(session.<Integer>transaction("test", echo(i))).isEqualTo(i);
      }
    }
  }

  private static void assertTheNextAnswersAreRight() {
    backend();
    for (int i = 0; i < 1_000; i++) {
      assertThat(DATABASE.<Integer>read("test", echo(i))).isEqualTo(i);
    }
  }

  private static Function<DSLContext, Integer> echo(int number) {
    return sql -> sql.select(DSL.val(number)).fetchSingle().value1();
  }

  private static void copyUntil(DSLContext sql, int rows, IOException thrown) {
    int[] read = new int[1];
    Copy.out(
        sql,
        MANY_ROWS,
        PATIENCE,
        PATIENCE,
        _ -> {
          if (++read[0] == rows) {
            throw thrown;
          }
        });
  }

  private static boolean sleeps(DSLContext sql, int backend) {
    return PlainSql.isTrue(
        sql,
        "select exists (select from pg_stat_activity where pid = ? and wait_event = 'PgSleep')",
        backend);
  }

  private static void write(Consumer<DSLContext> work) {
    DATABASE.write(
        "test",
        sql -> {
          work.accept(sql);
          return true;
        });
  }

  private static int backend() {
    return retried(() -> DATABASE.<Integer>read("test", BrokenOffTest::backend));
  }

  /** A machine under load may not connect anew within the half second that the pool waits. */
  private static int retried(IntSupplier ask) {
    for (int tried = 1; ; tried++) {
      try {
        return ask.getAsInt();
      } catch (DatabaseUnavailable none) {
        if (tried == 100 || !SqlState.isPoolExhausted(none)) {
          throw none;
        }
      }
    }
  }

  private static int backend(DSLContext sql) {
    return sql.resultQuery("select pg_backend_pid()").fetchSingle(0, Integer.class);
  }

  private static String raise(String state) {
    return "do $$ begin raise exception 'as told' using errcode = '" + state + "'; end $$";
  }
}
