package dev.coatcheck.cluster.lease;

import static org.awaitility.Awaitility.await;

import dev.coatcheck.postgres.embedded.EmbeddedDatabase;
import dev.coatcheck.postgres.sql.TestDatabase;
import dev.coatcheck.postgres.sql.TestServer;
import dev.coatcheck.postgres.sql.TestSql;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.awaitility.core.ConditionTimeoutException;

/**
 * Several gateways on one Postgres, each behind a proxy of its own, and random faults: SIGKILL,
 * SIGSTOP past the window or the lease with theft, frozen and cut connections, and restarts and
 * kills of Postgres. Every acknowledged key is compared with all others.
 */
final class FaultRounds {
  private static final int PROCESSES = 3;
  private static final int LAST_WORKER = 5;

  private final Path home;
  private final long seed;
  private final Random random;
  private final AcknowledgedKeys acknowledged = new AcknowledgedKeys();
  private final List<MintingProcess> processes = new ArrayList<>();
  private final List<FaultProxy> proxies = new ArrayList<>();
  private EmbeddedDatabase postgres;
  private int started;

  /**
   * @param site of which database, so that several run at the same time
   */
  FaultRounds(String site, long seed) throws Exception {
    this.home = TestServer.home("fault-database-" + site);
    this.seed = seed;
    this.random = new Random(seed);
    this.postgres = EmbeddedDatabase.start(home);
    LaggingStandby.syncNothing(postgres);
    TestSql.on(postgres).migrate();
    execute("truncate coatcheck.worker_lease, coatcheck.lease_window");
  }

  void run(int rounds) throws Exception {
    try {
      for (int i = 0; i < PROCESSES; i++) {
        proxies.add(new FaultProxy(port()));
        processes.add(start(i));
      }
      awaitAllMinting();
      for (int round = 0; round < rounds; round++) {
        round();
        acknowledged.requireUnique();
      }
      awaitAllMinting();
      acknowledged.requireUnique();
      System.out.printf(
          "faults.seed=%d: %d rounds, %d processes, %,d keys, no duplicate%n",
          seed, rounds, started, acknowledged.count());
    } catch (AssertionError | RuntimeException broken) {
      throw new AssertionError("faults.seed=%d: %s".formatted(seed, broken.getMessage()), broken);
    } finally {
      processes.forEach(MintingProcess::close);
      for (FaultProxy proxy : proxies) {
        proxy.close();
      }
      postgres.close();
    }
  }

  private void round() throws Exception {
    List<Thread> faults = new ArrayList<>();
    for (int i = 0; i < PROCESSES; i++) {
      int index = i;
      int kind = random.nextInt(6);
      long millis = 50 + random.nextLong(random.nextBoolean() ? 500 : 4_000);
      faults.add(Thread.ofVirtual().start(() -> fault(kind, index, millis)));
    }
    if (random.nextInt(8) == 0) {
      restartPostgres(random.nextBoolean());
    }
    for (Thread fault : faults) {
      fault.join();
    }
    // A lease of the dead ends after 15 s; the rounds are shorter.
    execute("update coatcheck.worker_lease set expires_at = clock_timestamp() where " + dead());
    Thread.sleep(random.nextInt(400));
  }

  private void fault(int kind, int index, long millis) {
    try {
      switch (kind) {
        case 0 -> {
          processes.get(index).close();
          processes.set(index, start(index));
        }
        case 1, 2 -> {
          MintingProcess process = processes.get(index);
          process.signal("STOP");
          if (kind == 2) {
            execute(
                "update coatcheck.worker_lease set expires_at = clock_timestamp() where holder = '"
                    + process.name()
                    + "'");
          }
          Thread.sleep(millis);
          process.signal("CONT");
        }
        case 3 -> {
          proxies.get(index).freeze(true);
          Thread.sleep(millis);
          proxies.get(index).freeze(false);
        }
        case 4 -> proxies.get(index).cut();
        default -> Thread.sleep(millis);
      }
    } catch (AssertionError whileRestarting) {
      processes.get(index).signal("CONT");
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void restartPostgres(boolean kill) throws Exception {
    if (kill) {
      String pid = Files.readAllLines(home.resolve("data/postmaster.pid")).getFirst();
      ProcessHandle.of(Long.parseLong(pid)).ifPresent(ProcessHandle::destroyForcibly);
    }
    postgres.close();
    postgres = EmbeddedDatabase.start(home);
    proxies.forEach(proxy -> proxy.cut());
    for (FaultProxy proxy : proxies) {
      proxy.target(port());
    }
  }

  private MintingProcess start(int index) {
    TestDatabase through = TestDatabase.on(postgres).behind(proxies.get(index).port());
    String name = "process-" + nextNumber();
    return MintingProcess.start(
        new MintingProcess.Order(through, name, 0, LAST_WORKER, Defect.NONE),
        Map.of(),
        acknowledged);
  }

  private synchronized int nextNumber() {
    return started++;
  }

  private void awaitAllMinting() {
    for (MintingProcess process : processes) {
      long before = process.keys();
      try {
        await().until(() -> process.keys() > before);
      } catch (ConditionTimeoutException stuck) {
        throw new AssertionError(process.state(), stuck);
      }
    }
  }

  private String dead() {
    StringBuilder condition = new StringBuilder("true");
    for (MintingProcess process : processes) {
      condition.append(" and holder <> '").append(process.name()).append('\'');
    }
    return condition.toString();
  }

  private int port() {
    return TestDatabase.on(postgres).port();
  }

  private void execute(String sql) {
    TestSql.on(postgres).execute(sql);
  }
}
