package dev.coatcheck.core.observe;

import static org.assertj.core.api.Assertions.assertThat;

import java.sql.SQLTransientConnectionException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** What fills a log in an outage is counted. */
class EventLogTest {
  private final List<String> lines = Collections.synchronizedList(new ArrayList<>());
  private final Deque<Runnable> dueInASecond = new ConcurrentLinkedDeque<>();
  private final EventLog log =
      new EventLog(
          new RepeatedLines((level, line) -> lines.add(level + " " + line), dueInASecond::add));

  @Test
  void repeatedEventsAreLoggedOnceASecondWithTheirNumber() {
    for (int i = 0; i < 1_000; i++) {
      log.write(failure("resolve", "waited " + i));
    }
    assertThat(lines).containsExactly("WARN database: resolve failed (SQLSTATE none): waited 0");

    secondPasses();
    assertThat(lines)
        .hasSize(2)
        .last()
        .isEqualTo(
            "WARN database: resolve failed (SQLSTATE none): waited 999 (999 within a second)");

    log.write(failure("resolve", "waited again"));
    assertThat(lines).hasSize(2);
    secondPasses();
    assertThat(lines)
        .hasSize(3)
        .last()
        .isEqualTo(
            "WARN database: resolve failed (SQLSTATE none): waited again (1 within a second)");
  }

  /** Of a statement of several lines the first line says nothing of what went wrong. */
  @Test
  void whatPostgresSaidIsLoggedWithoutTheStatement() {
    RuntimeException failed =
        new IllegalStateException(
            "SQL [select 1\nfrom nowhere]; ERROR",
            new SQLTransientConnectionException(
                "ERROR: relation \"nowhere\" does not exist\n  Position: 15"));
    log.write(new Event.DatabaseFailed("resolve", "42P01", failed));

    assertThat(lines)
        .containsExactly(
            "WARN database: resolve failed (SQLSTATE 42P01):"
                + " ERROR: relation \"nowhere\" does not exist");
  }

  @Test
  void anEventAfterAQuietSecondIsLoggedAtOnce() {
    log.write(failure("resolve", "first"));
    secondPasses();
    assertThat(dueInASecond).isEmpty();

    log.write(failure("resolve", "second"));

    assertThat(lines).hasSize(2).last().asString().endsWith("second");
  }

  @Test
  void anotherEventIsNotHiddenByTheRepeatedOnes() {
    for (int i = 0; i < 100; i++) {
      log.write(failure("resolve", "full"));
    }
    log.write(failure("mint", "full"));
    log.write(new Event.ScanStopped("charge"));
    log.write(new Event.ScanStopped("user"));

    assertThat(lines)
        .containsExactly(
            "WARN database: resolve failed (SQLSTATE none): full",
            "WARN database: mint failed (SQLSTATE none): full",
            "INFO a client tries legacy IDs one by one, of type charge",
            "INFO a client tries legacy IDs one by one, of type user");
  }

  /** A stranger chooses the ID of a key: neither lines nor memory may grow with them. */
  @Test
  void refusedApiKeysAreCountedByTheirReason() {
    for (int i = 0; i < 1_000; i++) {
      log.write(new Event.AccessRefused("key" + i, "unknown"));
    }

    assertThat(lines).containsExactly("INFO access refused for API key key0: unknown");
    assertThat(dueInASecond).hasSize(1);
  }

  @Test
  void noneIsLostWhenThreadsAndTheSecondRace() throws Exception {
    int threads = 4;
    int events = 20_000;
    try (ExecutorService racers = Executors.newFixedThreadPool(threads)) {
      var writers =
          IntStream.range(0, threads)
              .mapToObj(
                  _ ->
                      racers.submit(
                          () -> {
                            for (int i = 0; i < events; i++) {
                              log.write(failure("resolve", "full"));
                            }
                          }))
              .toList();
      while (!writers.stream().allMatch(Future::isDone)) {
        secondPasses();
      }
    }
    secondPasses();
    secondPasses();

    assertThat(lines.stream().mapToLong(EventLogTest::number).sum())
        .isEqualTo((long) threads * events);
    assertThat(dueInASecond).isEmpty();
  }

  private void secondPasses() {
    Deque<Runnable> due = new ArrayDeque<>();
    for (Runnable task = dueInASecond.poll(); task != null; task = dueInASecond.poll()) {
      due.add(task);
    }
    due.forEach(Runnable::run);
  }

  private static long number(String line) {
    return line.endsWith(" within a second)")
        ? Long.parseLong(line.replaceAll(".*\\((\\d+) within a second\\)", "$1"))
        : 1;
  }

  private static Event failure(String operation, String message) {
    return new Event.DatabaseFailed(
        operation, "none", new SQLTransientConnectionException(message));
  }
}
