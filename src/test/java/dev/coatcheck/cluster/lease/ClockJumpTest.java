package dev.coatcheck.cluster.lease;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.coatcheck.Breakage;
import dev.coatcheck.BrokenBy;
import dev.coatcheck.core.key.SnowflakeLayout;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/** Promises 2 and 3, on processes whose wall clock is moved while they run. */
@Tag("faults")
class ClockJumpTest {
  private static final long[] JUMPS_MILLIS = {100, -100, 3_000, -3_000, 3_600_000, -3_600_000};

  @TempDir Path folder;

  private final LeaseDatabase shared = LeaseDatabase.fresh();
  private final AcknowledgedKeys acknowledged = new AcknowledgedKeys();

  @BeforeEach
  void requireFakeTime() {
    Assumptions.assumeTrue(
        FakeTime.in(folder).isPresent(),
        "libfaketime is not installed; on Debian the package is faketime");
  }

  private static void awaitKeys(MintingProcess process) {
    long before = process.keys();
    await().atMost(Duration.ofSeconds(30)).until(() -> process.keys() > before);
  }

  @Test
  @BrokenBy("wall-clock")
  void aClockJumpAtAGatewayChangesNothing() {
    FakeTime clock = FakeTime.in(folder).orElseThrow();
    var order = new MintingProcess.Order(shared.server(), "jumping", 0, 1_021, Defect.current());
    try (MintingProcess process = MintingProcess.start(order, clock.environment(), acknowledged)) {
      awaitKeys(process);
      int refusedBefore = process.refusals();
      for (long jump : JUMPS_MILLIS) {
        clock.jump(jump);
        await().pollDelay(Duration.ofMillis(1_200)).until(() -> true);
        awaitKeys(process);
        long ageMillis =
            System.currentTimeMillis()
                - SnowflakeLayout.DEFAULT.timeOf(process.lastKey()).toEpochMilli();
        assertThat(ageMillis)
            .as("age of a key after a jump of %d ms", jump)
            .isBetween(-50L, 1_000L);
        assertThat(process.refusals()).as("refusals").isEqualTo(refusedBefore);
      }
      acknowledged.requireUnique();
    }
  }

  @Test
  void aClockJumpAtPostgresMakesNoDuplicateAndMintingComesBack() throws Exception {
    FakeTime clock = FakeTime.in(folder).orElseThrow();
    try (DatabaseProcess postgres =
            DatabaseProcess.start(folder.resolve("postgres-home"), clock.environment());
        MintingProcess one = minting(postgres, "one");
        MintingProcess two = minting(postgres, "two")) {
      awaitKeys(one);
      awaitKeys(two);
      for (long jump : JUMPS_MILLIS) {
        for (long offset : new long[] {jump, 0}) {
          clock.jump(offset);
          await().pollDelay(Duration.ofMillis(1_500)).until(() -> true);
          awaitKeys(one);
          awaitKeys(two);
          acknowledged.requireUnique();
        }
      }
    }
  }

  private MintingProcess minting(DatabaseProcess postgres, String name) {
    return MintingProcess.start(
        new MintingProcess.Order(postgres.database(), name, 0, 1_021, Defect.current()),
        Map.of(),
        acknowledged);
  }

  @TestFactory
  Stream<DynamicTest> everyDefectIsFound() {
    return Breakage.requireRed(this);
  }
}
