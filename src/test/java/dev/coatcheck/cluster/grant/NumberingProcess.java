package dev.coatcheck.cluster.grant;

import dev.coatcheck.core.key.Key;
import dev.coatcheck.core.key.KeyDraw;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.postgres.sql.Database;
import dev.coatcheck.postgres.sql.TestDatabase;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.BitSet;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * A process that draws numbers of a segment until it is killed, and the handle to it. It prints a
 * line {@code n FIRST COUNT;} for each draw.
 */
final class NumberingProcess implements AutoCloseable {
  /** The numbers that processes said they drew, over all of them. */
  static final class Seen {
    private final BitSet numbers = new BitSet();
    private String duplicate = "";

    private synchronized void add(int first, int count) {
      int taken = numbers.nextSetBit(first);
      if (taken >= 0 && taken < first + count) {
        duplicate = taken + " was drawn twice";
      }
      numbers.set(first, first + count);
    }

    synchronized int count() {
      return numbers.cardinality();
    }

    synchronized void requireUnique() {
      if (!duplicate.isEmpty()) {
        throw new AssertionError(duplicate);
      }
    }
  }

  private final Process process;
  private final Seen seen;
  private final AtomicInteger draws = new AtomicInteger();

  private NumberingProcess(Process process, Seen seen) {
    this.process = process;
    this.seen = seen;
  }

  static NumberingProcess start(TestDatabase database, String tag, Seen seen) {
    ProcessBuilder builder =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-Xmx96m",
                "-cp",
                System.getProperty("java.class.path"),
                NumberingProcess.class.getName(),
                database.url(),
                database.user(),
                database.password(),
                tag)
            .redirectError(ProcessBuilder.Redirect.INHERIT);
    try {
      NumberingProcess started = new NumberingProcess(builder.start(), seen);
      Thread.ofVirtual().start(started::read);
      return started;
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  private void read() {
    try (BufferedReader lines = process.inputReader()) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        String[] words = line.split(" ", 3);
        // A killed process may leave half a line, which acknowledges nothing.
        if (words[0].equals("n") && words.length == 3 && words[2].endsWith(";")) {
          seen.add(Integer.parseInt(words[1]), Integer.parseInt(words[2].replace(";", "")));
          draws.incrementAndGet();
        }
      }
    } catch (IOException killed) {
      // What was read before stands.
    }
  }

  int draws() {
    return draws.get();
  }

  /** SIGKILL. */
  @Override
  public void close() {
    process.destroyForcibly();
    process.onExit().join();
  }

  public static void main(String[] arguments) {
    TestDatabase server = new TestDatabase(arguments[0], arguments[1], arguments[2]);
    Database database = Database.open(server.settings(2), "numbers", new Observer());
    Segments segments = new Segments(database, new Observer(), System::nanoTime);
    Random random = new Random();
    while (!System.out.checkError()) {
      if (segments.next(arguments[3], 1 + random.nextInt(20))
          instanceof KeyDraw.Drawn(List<Key> keys)) {
        long first = ((Key.Bigint) keys.getFirst()).value();
        long last = ((Key.Bigint) keys.getLast()).value();
        if (last - first < keys.size()) {
          System.out.print("n %d %d;\n".formatted(first, keys.size()));
        } else {
          keys.forEach(key -> System.out.print("n %s 1;\n".formatted(key.text())));
        }
        System.out.flush();
      }
      LockSupport.parkNanos(1_000_000);
    }
  }
}
