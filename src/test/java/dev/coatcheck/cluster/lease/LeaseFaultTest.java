package dev.coatcheck.cluster.lease;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.coatcheck.Breakage;
import dev.coatcheck.BrokenBy;
import dev.coatcheck.MachineDelay;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** Faults of real processes. {@code -Dfaults.seed=…} repeats the choices of the random rounds. */
@Tag("faults")
class LeaseFaultTest {
  private final LeaseDatabase database = LeaseDatabase.fresh();
  private final AcknowledgedKeys acknowledged = new AcknowledgedKeys();

  private MintingProcess start(String name, int lastWorker) {
    var order = new MintingProcess.Order(database.server(), name, 0, lastWorker, Defect.current());
    return MintingProcess.start(order, Map.of(), acknowledged);
  }

  private static void awaitKeys(MintingProcess process) {
    long before = process.keys();
    await().until(() -> process.keys() > before);
  }

  private void expireAll() {
    database.execute("update coatcheck.worker_lease set expires_at = clock_timestamp()");
  }

  @Test
  @BrokenBy("window-ignored")
  void aHolderThatWakesAfterTheTheftOfItsWorkerMintsNothingTwice() {
    try (MachineDelay delay = MachineDelay.measure();
        MintingProcess stopped = start("stopped", 0)) {
      awaitKeys(stopped);
      stopped.signal("STOP");
      expireAll();
      long before = stopped.keys();
      try (MintingProcess thief = start("thief", 0)) {
        awaitKeys(thief);
        int refusedBefore = thief.refusals();
        stopped.signal("CONT");
        await().during(Duration.ofSeconds(2)).until(() -> uniqueOrThrow());
        assertThat(stopped.keys() - before).as("from a window long closed").isLessThan(1_000);
        requireNoPause(thief, refusedBefore, delay);
      }
      expireAll();
      awaitKeys(stopped);
      acknowledged.requireUnique();
    }
  }

  /** A holder whose renewals are late, because the machine is, refuses to mint: as it must. */
  private static void requireNoPause(
      MintingProcess process, int refusedBefore, MachineDelay delay) {
    if (process.refusals() != refusedBefore) {
      delay.requireTimely();
    }
    assertThat(process.refusals()).isEqualTo(refusedBefore);
  }

  private boolean uniqueOrThrow() {
    acknowledged.requireUnique();
    return true;
  }

  @Test
  void aGatewayStoppedFor40SecondsMintsAgainWithinTwoSecondsAndTheOtherNeverPauses() {
    Duration stopFor = Duration.ofSeconds(40);
    try (MachineDelay delay = MachineDelay.measure();
        MintingProcess stopped = start("stopped", 1_020);
        MintingProcess other = start("other", 1_020)) {
      awaitKeys(stopped);
      awaitKeys(other);
      int refusedBefore = other.refusals();
      stopped.signal("STOP");
      await().pollDelay(stopFor).timeout(stopFor.plusMinutes(1)).until(() -> true);
      requireNoPause(other, refusedBefore, delay);
      awaitKeys(other);
      long before = stopped.keys();
      stopped.signal("CONT");
      long woken = System.nanoTime();
      await().pollInterval(Duration.ofMillis(10)).until(() -> stopped.keys() > before);
      delay.requireWithin(Duration.ofSeconds(2), Duration.ofNanos(System.nanoTime() - woken));
      requireNoPause(other, refusedBefore, delay);
      acknowledged.requireUnique();
    }
  }

  /** Half of them on each of two databases, because most of a round is waiting. */
  @Test
  void hundredsOfRandomRoundsMakeNoKeyTwice() throws Exception {
    long seed = Long.getLong("faults.seed", System.nanoTime());
    int rounds = Integer.getInteger("faults.rounds", 200) / 2;
    try (ExecutorService two = Executors.newFixedThreadPool(2)) {
      Future<?> first = two.submit(() -> rounds("first", seed, rounds));
      Future<?> second = two.submit(() -> rounds("second", seed + 1, rounds));
      first.get();
      second.get();
    }
  }

  private static int rounds(String site, long seed, int rounds) throws Exception {
    new FaultRounds(site, seed).run(rounds);
    return rounds;
  }

  @TestFactory
  Stream<DynamicTest> everyDefectIsFound() {
    return Breakage.requireRed(this);
  }
}
