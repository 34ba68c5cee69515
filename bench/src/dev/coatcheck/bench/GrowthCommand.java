package dev.coatcheck.bench;

import dev.coatcheck.app.boot.StartFailed;
import dev.coatcheck.app.client.CommandFailed;
import dev.coatcheck.app.client.Misused;
import dev.coatcheck.bench.growth.Growth;
import dev.coatcheck.bench.growth.GrowthPicture;
import dev.coatcheck.bench.growth.GrowthStep;
import dev.coatcheck.bench.growth.GrowthText;
import dev.coatcheck.bench.growth.Storage;
import dev.coatcheck.postgres.embedded.FileTree;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import me.tongfei.progressbar.ProgressBar;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code coatcheck bench growth}: bytes and latencies at growing numbers of mappings. */
@Command(
    name = "growth",
    description =
        "Mints 10^5, 10^6 and more, stored, in partitions and sealed, and prints what a mapping"
            + " takes and how long its mint and its resolve last.",
    mixinStandardHelpOptions = true)
final class GrowthCommand implements Callable<Integer> {
  private static final long LEAST = 1_000;
  private static final long MOST = 1_000_000_000;

  @Spec private CommandSpec spec;

  @Option(
      names = "--up-to",
      defaultValue = "10000000",
      description = "The greatest number, 1000 to 1000000000. Default: ${DEFAULT-VALUE}.")
  private long upTo;

  @Option(
      names = "--from",
      defaultValue = "100000",
      description = "The first number; each next one is ten times as large.")
  private long from;

  @Option(names = "--svg", paramLabel = "FILE", description = "Draws the picture.")
  private @Nullable Path svg;

  @Override
  public Integer call() throws CommandFailed, IOException {
    if (from < LEAST || upTo < from || upTo > MOST) {
      throw new Misused("--from must be 1000 at least, --up-to no less, 1000000000 at most.");
    }
    List<Long> sizes = new ArrayList<>();
    for (long size = from; size <= upTo; size *= 10) {
      sizes.add(size);
    }
    List<GrowthStep> steps = BenchCommand.inFolder(folder -> measured(sizes, folder));
    PrintWriter out = spec.commandLine().getOut();
    out.println();
    out.print(GrowthText.of(steps));
    out.flush();
    if (svg != null) {
      Files.writeString(svg, GrowthPicture.of(steps));
    }
    return 0;
  }

  private static List<GrowthStep> measured(List<Long> sizes, Path folder)
      throws CommandFailed, StartFailed, IOException {
    List<GrowthStep> steps = new ArrayList<>();
    long most = Storage.values().length * sizes.getLast();
    try (ProgressBar bar = BenchCommand.bar("minting", most)) {
      for (Storage storage : Arrays.asList(Storage.values())) {
        Path home = folder.resolve(storage.name());
        steps.addAll(
            Growth.measure(storage, BenchCommand.throwAway(home), folder, sizes, bar::stepBy));
        FileTree.delete(home);
      }
    }
    return steps;
  }
}
