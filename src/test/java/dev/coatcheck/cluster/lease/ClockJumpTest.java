package dev.coatcheck.cluster.lease;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.coatcheck.Breakage;
import dev.coatcheck.BrokenBy;
import dev.coatcheck.core.key.SnowflakeLayout;
import dev.coatcheck.postgres.sql.TestDatabase;
import java.nio.file.Path;
import java.util.List;
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
  /** Each is also the way back of the one before. */
  private static final long[] OFFSETS_MILLIS = {100, 0, 3_000, 0, 3_600_000, 0};

  /** A key's millisecond is 2 ms ahead of the database's time at most, and a full draw takes 4. */
  private static final long AHEAD_MILLIS_MAX = 50;

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
    await().until(() -> process.keys() > before);
  }

  /** Waits for the next renewal or acquire of the holder. */
  private static void awaitRenewal(TestDatabase database, String holder) {
    String statements =
        "select max(xmin::text::bigint) from coatcheck.worker_lease where holder = '%s'"
            .formatted(holder);
    String before = text(database, statements);
    await().until(() -> !before.equals(text(database, statements)));
  }

  private static String text(TestDatabase database, String sql) {
    return String.valueOf(database.sql().text(sql));
  }

  /** Waits for a key of a millisecond from now on, and refuses each that is ahead of time. */
  private static void awaitKeyFromNowOn(MintingProcess process) {
    long from = System.currentTimeMillis();
    await()
        .until(
            () -> {
              long keyMillis = SnowflakeLayout.DEFAULT.timeOf(process.lastKey()).toEpochMilli();
              assertThat(keyMillis - System.currentTimeMillis())
                  .as("milliseconds that a key is ahead of time")
                  .isLessThan(AHEAD_MILLIS_MAX);
              return keyMillis >= from;
            });
  }

  @Test
  @BrokenBy("wall-clock")
  void aClockJumpAtAGatewayChangesNothing() {
    FakeTime clock = FakeTime.in(folder).orElseThrow();
    // A window that no busy machine outlasts: then only a clock can be the cause of a refusal.
    var order =
        new MintingProcess.Order(
            shared.server(),
            "jumping",
            0,
            1_020,
            LeaseSettings.WINDOW_MILLIS_MAX,
            Defect.current());
    try (MintingProcess process = MintingProcess.start(order, clock.environment(), acknowledged)) {
      awaitKeys(process);
      int refusedBefore = process.refusals();
      for (long offset : OFFSETS_MILLIS) {
        clock.jump(offset);
        awaitKeyFromNowOn(process);
        awaitRenewal(shared.server(), "jumping");
        awaitKeyFromNowOn(process);
        assertThat(process.refusals()).as("refusals at %d ms", offset).isEqualTo(refusedBefore);
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
      for (long offset : OFFSETS_MILLIS) {
        clock.jump(offset);
        for (MintingProcess process : List.of(one, two)) {
          awaitRenewal(postgres.database(), process.name());
          awaitKeys(process);
        }
        acknowledged.requireUnique();
      }
    }
  }

  private MintingProcess minting(DatabaseProcess postgres, String name) {
    return MintingProcess.start(
        new MintingProcess.Order(postgres.database(), name, 0, 1_020, Defect.current()),
        Map.of(),
        acknowledged);
  }

  @TestFactory
  Stream<DynamicTest> everyDefectIsFound() {
    return Breakage.requireRed(this);
  }
}
