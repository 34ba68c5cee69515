package dev.coatcheck.app.cli.keys;

import dev.coatcheck.app.client.CommandFailed;
import dev.coatcheck.core.key.Waiter;
import dev.coatcheck.core.scheme.SequenceRanges.Range;
import dev.coatcheck.core.scheme.SnoGenerator;
import dev.coatcheck.core.scheme.SnoId;
import dev.coatcheck.core.scheme.SnoSnapshot;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * {@code coatcheck keys sno}: snos without a gateway. Their state is in a file, which is written
 * before the first of them is printed: a command that is killed loses snos, and no command makes a
 * sno again.
 */
@Command(
    name = "sno",
    description = "Generates snos on this machine, without a gateway, and prints a sno a line.")
final class SnoVerb implements Callable<Integer> {
  private static final int COUNT_MAX = 1_000_000;
  private static final int STATE_LENGTH_MAX = 1_000;

  @Spec private CommandSpec spec;

  @Option(
      names = "--state",
      required = true,
      paramLabel = "FILE",
      description = "File with the state; the first call makes it.")
  private Path state;

  @Option(
      names = "--partition",
      defaultValue = "0",
      description = "Partition of a new state, 0 to 65535; one for each state. Default: 0.")
  private int partition;

  @Option(
      names = "--sequences",
      paramLabel = "FIRST-LAST",
      defaultValue = "0-65535",
      description =
          "Sequence numbers of a new state, 4 at least; states of one partition must not overlap."
              + " Default: ${DEFAULT-VALUE}.")
  private String sequences;

  @Option(
      names = "--metabyte",
      defaultValue = "0",
      description = "A byte of yours in each sno, 0 to 255. Default: ${DEFAULT-VALUE}.")
  private int metabyte;

  @Option(
      names = "--count",
      defaultValue = "1",
      description = "Number of snos, 1 to 1000000. Default: ${DEFAULT-VALUE}.")
  private int count;

  @Override
  public Integer call() throws CommandFailed {
    if (count < 1 || count > COUNT_MAX) {
      throw misused("--count must be 1 to " + COUNT_MAX + ".");
    }
    if (metabyte < 0 || metabyte > SnoId.METABYTE_MAX) {
      throw misused("--metabyte must be 0 to 255.");
    }
    List<SnoId> made = new ArrayList<>(count);
    try (FileChannel file =
            FileChannel.open(
                state,
                StandardOpenOption.CREATE,
                StandardOpenOption.READ,
                StandardOpenOption.WRITE);
        FileLock _ = locked(file)) {
      SnoGenerator generator =
          new SnoGenerator(
              begin(file),
              System::currentTimeMillis,
              Waiter.PARKING,
              SnoGenerator.Overflows.IGNORED);
      for (int i = 0; i < count; i++) {
        made.add(generator.next(metabyte));
      }
      write(file, generator.snapshot());
    } catch (IOException failed) {
      throw new CommandFailed("the state " + state + ": " + failed.getMessage());
    } catch (IllegalStateException clock) {
      throw new CommandFailed(String.valueOf(clock.getMessage()));
    }
    PrintWriter out = spec.commandLine().getOut();
    made.forEach(out::println);
    return 0;
  }

  private FileLock locked(FileChannel file) throws IOException, CommandFailed {
    try {
      FileLock lock = file.tryLock();
      if (lock != null) {
        return lock;
      }
    } catch (OverlappingFileLockException taken) {
      // By this process: the same as by another.
    }
    throw new CommandFailed("another command uses the state " + state + ". Try again.");
  }

  private SnoSnapshot begin(FileChannel file) throws IOException, CommandFailed {
    if (file.size() == 0) {
      return SnoSnapshot.fresh(partition(), range());
    }
    ByteBuffer bytes = ByteBuffer.allocate((int) Math.min(file.size(), STATE_LENGTH_MAX));
    file.read(bytes, 0);
    String text = new String(bytes.array(), 0, bytes.position(), StandardCharsets.UTF_8);
    return SnoSnapshot.parse(text.lines().findFirst().orElse(""))
        .orElseThrow(
            () ->
                new CommandFailed(
                    "the file " + state + " is no state of snos. Name another file."));
  }

  private int partition() {
    if (partition < 0 || partition > SnoId.PARTITION_MAX) {
      throw misused("--partition must be 0 to 65535.");
    }
    return partition;
  }

  private Range range() {
    try {
      String[] ends = sequences.split("-", 2);
      return new Range(Integer.parseInt(ends[0]), Integer.parseInt(ends[ends.length - 1]));
    } catch (IllegalArgumentException malformed) {
      throw misused("--sequences must be FIRST-LAST within 0-65535, and have 4 numbers at least.");
    }
  }

  private ParameterException misused(String message) {
    return new ParameterException(spec.commandLine(), message);
  }

  /** One line in place, within one block of a disk: a crash leaves the old one or the new one. */
  private static void write(FileChannel file, SnoSnapshot snapshot) throws IOException {
    ByteBuffer bytes = ByteBuffer.wrap((snapshot + "\n").getBytes(StandardCharsets.UTF_8));
    while (bytes.hasRemaining()) {
      file.write(bytes, bytes.position());
    }
    file.force(true);
  }
}
