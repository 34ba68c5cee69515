package dev.coatcheck.cluster.lease;

import com.zaxxer.hikari.HikariDataSource;
import dev.coatcheck.TestJvm;
import dev.coatcheck.core.key.Key;
import dev.coatcheck.core.key.KeyOutcome;
import dev.coatcheck.core.key.SnowflakeLayout;
import dev.coatcheck.core.key.Waiter;
import dev.coatcheck.postgres.sql.TestDatabase;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * A process that leases a worker and mints until it is killed, and the handle to it. It prints a
 * line {@code k FIRST_KEY COUNT} for each run of keys and {@code r REASON} for each refusal.
 */
final class MintingProcess implements AutoCloseable {
  /** How to start one. */
  record Order(
      TestDatabase database,
      String name,
      int firstWorker,
      int lastWorker,
      long windowMillis,
      Defect defect) {
    Order(TestDatabase database, String name, int firstWorker, int lastWorker, Defect defect) {
      this(database, name, firstWorker, lastWorker, WINDOW_MILLIS, defect);
    }

    private ProcessBuilder program(Map<String, String> environment) {
      ProcessBuilder program =
          TestJvm.running(
              MintingProcess.class,
              database.url(),
              database.user(),
              database.password(),
              name,
              Integer.toString(firstWorker),
              Integer.toString(lastWorker),
              Long.toString(windowMillis),
              defect.id());
      program.environment().putAll(environment);
      return program;
    }
  }

  private static final long WINDOW_MILLIS = 2_000;

  private final String name;
  private final Process process;
  private final AcknowledgedKeys acknowledged;
  private final AtomicLong keys = new AtomicLong();
  private final AtomicLong lastKey = new AtomicLong();
  private final AtomicInteger refusals = new AtomicInteger();
  private volatile String lastRefusal = "nothing";

  private MintingProcess(String name, Process process, AcknowledgedKeys acknowledged) {
    this.name = name;
    this.process = process;
    this.acknowledged = acknowledged;
    Thread.ofVirtual().start(this::read);
  }

  static MintingProcess start(
      Order order, Map<String, String> environment, AcknowledgedKeys acknowledged) {
    return start(order.name(), order.program(environment), acknowledged);
  }

  /** A program that prints such lines. */
  static MintingProcess start(String name, ProcessBuilder program, AcknowledgedKeys acknowledged) {
    try {
      return new MintingProcess(name, program.start(), acknowledged);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void read() {
    try (BufferedReader lines = process.inputReader()) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        String[] words = line.split(" ", 3);
        // A killed process may leave half a line, which acknowledges nothing.
        if (words[0].equals("k") && words.length == 3 && words[2].endsWith(";")) {
          int count = Integer.parseInt(words[2].replace(";", ""));
          acknowledged.record(name, Long.parseLong(words[1]), count);
          lastKey.set(Long.parseLong(words[1]));
          keys.addAndGet(count);
        } else if (words[0].equals("r")) {
          refusals.incrementAndGet();
          lastRefusal = line;
        }
      }
    } catch (IOException killed) {
      // What was read before stands.
    }
  }

  String name() {
    return name;
  }

  long keys() {
    return keys.get();
  }

  long lastKey() {
    return lastKey.get();
  }

  /** In words, for a test that waits in vain. */
  String state() {
    return "%s is %s, made %d keys, was refused %d times, the last time with %s"
        .formatted(name, process.isAlive() ? "alive" : "dead", keys(), refusals(), lastRefusal);
  }

  int refusals() {
    return refusals.get();
  }

  void signal(String signal) {
    try {
      new ProcessBuilder("kill", "-" + signal, Long.toString(process.pid())).start().waitFor();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** SIGKILL. */
  @Override
  public void close() {
    process.destroyForcibly();
    process.onExit().join();
  }

  public static void main(String[] arguments) {
    TestDatabase database = new TestDatabase(arguments[0], arguments[1], arguments[2]);
    LeaseSettings settings =
        new LeaseSettings(
            SnowflakeLayout.DEFAULT,
            Integer.parseInt(arguments[4]),
            Integer.parseInt(arguments[5]),
            arguments[3],
            Long.parseLong(arguments[6]));
    HikariDataSource pool = LeaseDatabase.pool(database);
    Defect defect = Defect.named(arguments[7]);
    WorkerLease lease =
        new WorkerLease(
                settings,
                new WorkerLeaseStore(pool, settings, defect.conditions())::send,
                defect.rules(),
                defect == Defect.WALL_CLOCK ? new WallClock() : Waiter.PARKING,
                null,
                _ -> {})
            .start();
    Random random = new Random();
    while (!System.out.checkError()) {
      System.out.print(lines(lease.next(1 + random.nextInt(64))));
      System.out.flush();
      LockSupport.parkNanos(500_000);
    }
  }

  private static String lines(KeyOutcome draw) {
    return switch (draw) {
      case KeyOutcome.NoKeys why -> refusal(why.toString());
      case KeyOutcome.Drawn(List<Key> keys) ->
          lines(keys.stream().mapToLong(MintingProcess::value).toArray());
    };
  }

  static String refusal(String reason) {
    return "r " + reason.lines().findFirst().orElse("") + "\n";
  }

  /** One line for each millisecond's keys. */
  static String lines(long[] keys) {
    StringBuilder lines = new StringBuilder();
    int from = 0;
    for (int i = 1; i <= keys.length; i++) {
      if (i == keys.length || keys[i] != keys[i - 1] + 1) {
        lines.append("k %d %d;\n".formatted(keys[from], i - from));
        from = i;
      }
    }
    return lines.toString();
  }

  private static long value(Key key) {
    return ((Key.Bigint) key).value();
  }

  /** The defect {@link Defect#WALL_CLOCK} in a real process. */
  private static final class WallClock implements Waiter {
    @Override
    public long nanoTime() {
      return System.currentTimeMillis() * 1_000_000L;
    }

    @Override
    public void pause(long nanos) {
      LockSupport.parkNanos(nanos);
    }
  }
}
