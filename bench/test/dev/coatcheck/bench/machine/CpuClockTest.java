package dev.coatcheck.bench.machine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.postgres.sql.TestDatabase;
import dev.coatcheck.postgres.sql.TestSession;
import java.time.Duration;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

/** The CPU of processes, read from {@code /proc}. */
class CpuClockTest {
  /** Work that Postgres can't leave out. */
  private static final String WORK =
      "select count(sha256(n::text::bytea)) from generate_series(1, 1000000) n";

  @Test
  void theNameOfAProcessMayHoldSpacesAndParentheses() {
    String line =
        "4711 (a (b) c d) S 17 4711 4711 0 -1 4194560 1 2 3 4 105 21 1000 300 20 0 1 0 99 5 6";

    assertThat(ProcessStat.parse(line)).isEqualTo(new ProcessStat("a (b) c d", 17, 126, 1300));
  }

  @Test
  void whatAProcessComputesIsCounted() {
    CpuClock clock = CpuClock.ofProcess(ProcessHandle.current().pid());
    long before = clock.micros().orElseThrow();
    long begun = ownMicros();
    long sum = 0;
    while (ownMicros() - begun < 300_000) {
      sum += System.nanoTime() % 7;
    }

    long taken = clock.micros().orElseThrow() - before;

    assertThat(sum).isPositive();
    assertThat(taken).isGreaterThanOrEqualTo(280_000);
  }

  /** As the JVM counts it. */
  private static long ownMicros() {
    return ProcessHandle.current().info().totalCpuDuration().orElse(Duration.ZERO).toNanos() / 1000;
  }

  @Test
  void aProcessThatHasEndedHasNoClock() throws Exception {
    Process process = new ProcessBuilder("true").start();
    process.waitFor();

    assertThat(CpuClock.ofProcess(process.pid()).micros()).isEqualTo(OptionalLong.empty());
  }

  @Test
  void backendsOfPostgresCountAlsoAfterTheirEnd() {
    TestDatabase database = TestDatabase.empty();
    CpuClock clock;
    try (TestSession session = database.sql().session()) {
      String pid = session.text("select pg_backend_pid()::text");
      clock = CpuClock.ofPostgres(Long.parseLong(String.valueOf(pid)));
    }
    long before = clock.micros().orElseThrow();

    database.sql().text(WORK); // its backend ends with it

    assertThat(clock.micros().orElseThrow() - before).isGreaterThan(50_000);
  }

  @Test
  void whatIsNoBackendOfPostgresHasNoClock() {
    assertThat(CpuClock.ofPostgres(ProcessHandle.current().pid()).micros()).isEmpty();
  }
}
