package dev.coatcheck.cluster.lease;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.coatcheck.api.routes.GatewayFixture;
import dev.coatcheck.core.key.SnowflakeLayout;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.postgres.sql.TestDatabase;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Applications with leased keys, all with one holder name, that are stopped, killed and robbed of
 * their workers. {@code -Dfaults.seed=…} repeats the choices of the random rounds.
 */
@Tag("faults")
class ApplicationFaultTest {
  private static final int LAST_WORKER = 11;

  private static final TestDatabase DATABASE = TestDatabase.fresh();

  @RegisterExtension
  static final GatewayFixture GATEWAY =
      GatewayFixture.on(DATABASE, "COATCHECK_WORKERS", "default=0-" + LAST_WORKER);

  private final AcknowledgedKeys acknowledged = new AcknowledgedKeys();
  private final List<MintingProcess> processes = new ArrayList<>();

  @AfterEach
  void close() {
    processes.forEach(MintingProcess::close);
    expire("true");
  }

  private MintingProcess start(LeasedMode mode) {
    MintingProcess process =
        MintingProcess.start(
            "application " + processes.size() + " " + mode,
            mode == LeasedMode.DIRECT
                ? ApplicationProcess.on(DATABASE, LAST_WORKER)
                : ApplicationProcess.behind(GATEWAY.uri(), GATEWAY.keyWith(Scope.KEYS_WRITE)),
            acknowledged);
    processes.add(process);
    return process;
  }

  private static void awaitKeys(MintingProcess process) {
    long before = process.keys();
    await().alias(process.name()).until(() -> process.keys() > before);
  }

  private static int worker(MintingProcess process) {
    return SnowflakeLayout.DEFAULT.workerOf(process.lastKey());
  }

  private static void expire(String condition) {
    DATABASE
        .sql()
        .execute(
            "update coatcheck.worker_lease set expires_at = clock_timestamp()"
                + " where expires_at is not null and "
                + condition);
  }

  /** The other one leases as a gateway does. */
  @ParameterizedTest
  @EnumSource(
      value = LeasedMode.class,
      names = {"DIRECT", "HTTP"})
  void anApplicationThatWakesPastItsWindowMakesNoKeyOfAWorkerThatAnotherHas(LeasedMode mode) {
    MintingProcess stopped = start(mode);
    awaitKeys(stopped);
    int worker = worker(stopped);
    stopped.signal("STOP");
    expire("worker = " + worker);
    var order = new MintingProcess.Order(DATABASE, "thief", worker, worker, 3_000, Defect.NONE);
    try (MintingProcess thief = MintingProcess.start(order, Map.of(), acknowledged)) {
      awaitKeys(thief);
      long before = stopped.keys();
      stopped.signal("CONT");
      await().until(() -> stopped.keys() > before + 1_000);
      assertThat(worker(stopped)).isNotEqualTo(worker);
      awaitKeys(thief);
    }
    acknowledged.requireUnique();
  }

  @Test
  void noKeyIsMadeTwiceByApplicationsThatAreStoppedAndKilled() throws Exception {
    long seed = Long.getLong("faults.seed", System.nanoTime());
    Random random = new Random(seed);
    List<LeasedMode> modes =
        List.of(LeasedMode.DIRECT, LeasedMode.HTTP, LeasedMode.DIRECT, LeasedMode.HTTP);
    List<MintingProcess> living = new ArrayList<>(modes.stream().map(this::start).toList());
    living.forEach(ApplicationFaultTest::awaitKeys);
    for (int round = 0; round < 30; round++) {
      List<Thread> faults = new ArrayList<>();
      for (int i = 0; i < living.size(); i++) {
        MintingProcess process = living.get(i);
        long millis = random.nextInt(5_000);
        switch (random.nextInt(4)) {
          case 0 -> {
            process.close();
            living.set(i, start(modes.get(i)));
          }
          case 1 -> faults.add(stop(process, millis, false));
          case 2 -> faults.add(stop(process, millis, true));
          default -> {
            // This one goes on.
          }
        }
      }
      for (Thread fault : faults) {
        fault.join();
      }
      // A lease of the dead ends after 15 s; the rounds are shorter.
      expire("worker <> all(" + workers(living) + ")");
      acknowledged.requireUnique();
    }
    living.forEach(ApplicationFaultTest::awaitKeys);
    acknowledged.requireUnique();
    System.out.printf(
        "faults.seed=%d: %d applications, %,d keys, no duplicate%n",
        seed, processes.size(), acknowledged.count());
  }

  private static Thread stop(MintingProcess process, long millis, boolean isRobbed) {
    process.signal("STOP");
    if (isRobbed) {
      expire("worker = " + worker(process));
    }
    return Thread.ofVirtual()
        .start(
            () -> {
              LockSupport.parkNanos(millis * 1_000_000);
              process.signal("CONT");
            });
  }

  /** None, if all of them have just begun. */
  private static String workers(List<MintingProcess> processes) {
    return processes.stream()
        .filter(process -> process.keys() > 0)
        .map(process -> Integer.toString(worker(process)))
        .collect(Collectors.joining(", ", "'{", "}'"));
  }
}
