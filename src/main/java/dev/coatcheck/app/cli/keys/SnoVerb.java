package dev.coatcheck.app.cli.keys;

import dev.coatcheck.app.client.CommandFailed;
import dev.coatcheck.app.client.Output;
import dev.coatcheck.core.key.DatedKeyGenerator;
import dev.coatcheck.core.key.Waiter;
import dev.coatcheck.core.scheme.DatedSnos;
import dev.coatcheck.core.scheme.SequenceRange;
import dev.coatcheck.core.scheme.SnoGenerator;
import dev.coatcheck.core.scheme.SnoId;
import dev.coatcheck.core.scheme.SnoShare;
import dev.coatcheck.core.scheme.SnoSnapshot;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * {@code coatcheck keys sno}: snos without a gateway. Their state is in a file, which is written
 * before the first sno is printed. A command that is killed loses snos, and no command prints a sno
 * twice.
 */
@Command(
    name = "sno",
    description = "Generates snos on this machine, without a gateway, and prints a sno a line.",
    footer = "  coatcheck keys sno --state snos.state --count 3")
final class SnoVerb implements Callable<Integer> {
  private static final int COUNT_MAX = 1_000_000;

  @Mixin private Output output = new Output();
  @Spec private CommandSpec spec;

  @Option(
      names = "--state",
      required = true,
      paramLabel = "FILE",
      description = "File with the state; the first call makes it.")
  private Path state;

  @Option(
      names = "--partition",
      paramLabel = "N",
      description = "Partition of a new state, 0 to 65535; one for each state. Default: 0.")
  private @Nullable Integer partition;

  @Option(
      names = "--sequences",
      paramLabel = "FIRST-LAST",
      description =
          "Sequence numbers of a new state, 4 at least; states of one partition must not overlap."
              + " Default: 0-65535.")
  private @Nullable String sequences;

  @Option(
      names = "--metabyte",
      paramLabel = "BYTE",
      defaultValue = "0",
      description = "A byte of yours in each sno, 0 to 255. Default: ${DEFAULT-VALUE}.")
  private int metabyte;

  @Option(
      names = "--count",
      paramLabel = "N",
      defaultValue = "1",
      description = "Number of snos, 1 to 1000000. Default: ${DEFAULT-VALUE}.")
  private int count;

  @Option(
      names = "--at",
      paramLabel = "TIME",
      description = {
        "Time that the snos carry, such as 2026-01-31T12:00:00Z. Default: now.",
        "A state makes snos of the present or of given times, never both."
      })
  private @Nullable Instant at;

  @Option(
      names = "--overflow-notices",
      description =
          "Print a line on standard error for each tick that is full: its time, how many snos wait"
              + " for the next tick, and how many ticks in a row were full.")
  private boolean overflowNotices;

  @Override
  public Integer call() throws CommandFailed {
    if (count < 1 || count > COUNT_MAX) {
      throw misused("--count must be 1 to " + COUNT_MAX + ".");
    }
    if (metabyte < 0 || metabyte > SnoId.METABYTE_MAX) {
      throw misused("--metabyte must be 0 to 255.");
    }
    SnoShare fresh = new SnoShare(partition(), range());
    List<SnoId> made;
    try {
      made = at == null ? ofThePresent(fresh) : ofATime(at, fresh);
    } catch (IOException failed) {
      throw SnoStateFile.failed(state, failed);
    } catch (IllegalStateException clock) {
      throw new CommandFailed(String.valueOf(clock.getMessage()));
    }
    output.rows(
        made.stream().map(sno -> Output.object(Map.of("key", sno.toString()))).toList(), "key");
    return 0;
  }

  private List<SnoId> ofThePresent(SnoShare fresh) throws IOException, CommandFailed {
    try (SnoStateFile file = SnoStateFile.open(state, fresh, SnoSnapshot.fresh(fresh).toString())) {
      requireNoConflict(file);
      List<SnoId> made = new ArrayList<>(count);
      SnoGenerator generator =
          new SnoGenerator(
              file.lines().stream()
                  .findFirst()
                  .flatMap(SnoSnapshot::parse)
                  .orElseThrow(file::broken),
              System::currentTimeMillis,
              Waiter.PARKING,
              (tick, ticks) -> overflowed(tick, count - made.size(), ticks));
      for (int i = 0; i < count; i++) {
        made.add(generator.next(metabyte));
      }
      file.replace(generator.snapshot().toString());
      return made;
    }
  }

  private void overflowed(Instant tick, int waiting, long ticks) {
    if (overflowNotices) {
      spec.commandLine()
          .getErr()
          .println("%s waiting=%d full_ticks=%d".formatted(tick, waiting, ticks));
    }
  }

  private List<SnoId> ofATime(Instant time, SnoShare fresh) throws IOException, CommandFailed {
    if (time.isBefore(SnoId.EPOCH)
        || time.isAfter(Instant.now().plus(DatedKeyGenerator.AHEAD_MAX))) {
      throw misused("--at must be from 2010 on, and not more than a day in the future.");
    }
    try (SnoStateFile file = SnoStateFile.open(state, fresh, DatedSnos.firstLine(fresh))) {
      requireNoConflict(file);
      DatedSnos.Made made =
          DatedSnos.parse(file.lines()).orElseThrow(file::broken).at(time, count, metabyte);
      file.add(made.lines());
      return made.snos();
    }
  }

  /** A state keeps its share, so contradicting flags are an error. */
  private void requireNoConflict(SnoStateFile file) throws CommandFailed {
    SnoShare share = file.share();
    if (partition != null && partition != share.partition()) {
      throw conflict("is of partition " + share.partition(), "--partition");
    }
    if (sequences != null && !range().equals(share.sequences())) {
      throw conflict("has the sequence numbers " + share.sequences(), "--sequences");
    }
    Optional<String> first = file.lines().stream().findFirst();
    if (at == null && first.filter(DatedSnos.firstLine(share)::equals).isPresent()) {
      throw new CommandFailed(
          "the state " + state + " is for given times. Add --at, or name another file.");
    }
    if (at != null && first.flatMap(SnoSnapshot::parse).isPresent()) {
      throw conflict("is for the present", "--at");
    }
  }

  private CommandFailed conflict(String what, String flag) {
    return new CommandFailed(
        "the state %s %s. Leave %s out, or name another file.".formatted(state, what, flag));
  }

  private int partition() {
    int wanted = partition == null ? 0 : partition;
    if (wanted < 0 || wanted > SnoId.PARTITION_MAX) {
      throw misused("--partition must be 0 to 65535.");
    }
    return wanted;
  }

  private SequenceRange range() {
    if (sequences == null) {
      return SequenceRange.ALL;
    }
    try {
      String[] ends = sequences.split("-", 2);
      return new SequenceRange(Integer.parseInt(ends[0]), Integer.parseInt(ends[ends.length - 1]));
    } catch (IllegalArgumentException malformed) {
      throw misused("--sequences must be FIRST-LAST within 0-65535, and have 4 numbers at least.");
    }
  }

  private ParameterException misused(String message) {
    return new ParameterException(spec.commandLine(), message);
  }
}
