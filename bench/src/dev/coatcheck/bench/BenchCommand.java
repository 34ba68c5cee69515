package dev.coatcheck.bench;

import dev.coatcheck.app.boot.Config;
import dev.coatcheck.app.boot.Setting;
import dev.coatcheck.app.boot.StartFailed;
import dev.coatcheck.app.client.CommandFailed;
import dev.coatcheck.app.client.Misused;
import dev.coatcheck.app.client.TemporaryFolder;
import dev.coatcheck.bench.backfill.BackfillSpeed;
import dev.coatcheck.bench.footprint.MappingSize;
import dev.coatcheck.bench.machine.MeasureFailed;
import dev.coatcheck.bench.report.Report;
import dev.coatcheck.bench.report.Row;
import dev.coatcheck.bench.report.TableText;
import dev.coatcheck.bench.speed.ImportSpeed;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;
import me.tongfei.progressbar.ProgressBarStyle;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code coatcheck bench}: measurements, each on a throw-away Postgres of its own. */
@Command(
    name = "bench",
    description = "Measures, on a throw-away Postgres.",
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "COMMAND",
    subcommands = {
      TableCommand.class,
      PictureCommand.class,
      OverloadCommand.class,
      MicroCommand.class,
      GrowthCommand.class
    })
final class BenchCommand {
  @Spec private CommandSpec spec;

  @Command(
      name = "mapping-size",
      description = "Prints the bytes that a stored mapping takes, table and indexes.",
      mixinStandardHelpOptions = true)
  int mappingSize(
      @Option(
              names = "--rows",
              defaultValue = "1000000",
              description = "Mappings to mint, 1000 to 100000000. Default: ${DEFAULT-VALUE}.")
          int rows)
      throws CommandFailed, IOException {
    if (rows < 1_000 || rows > 100_000_000) {
      throw new Misused("--rows must be 1000 to 100000000.");
    }
    MappingSize.Result result =
        inFolder(
            folder -> {
              try (ProgressBar bar = bar("minting", rows)) {
                return MappingSize.measure(throwAway(folder.resolve("home")), rows, bar::stepBy);
              }
            });
    print(result);
    return 0;
  }

  @Command(
      name = "import",
      description =
          "Prints how fast a CSV file goes in over HTTP, against a binary COPY of the same rows.",
      mixinStandardHelpOptions = true)
  int importSpeed(
      @Option(
              names = "--rows",
              defaultValue = "1000000",
              description = "Rows, 1000 to 10000000. Default: ${DEFAULT-VALUE}.")
          int rows,
      @Option(
              names = "--runs",
              defaultValue = "3",
              description = "Runs of each, 1 to 100. Default: ${DEFAULT-VALUE}.")
          int runs)
      throws CommandFailed, IOException {
    if (rows < 1_000 || rows > 10_000_000 || runs < 1 || runs > 100) {
      throw new Misused("--rows must be 1000 to 10000000, --runs 1 to 100.");
    }
    List<Row> measured =
        inFolder(
            folder -> {
              try (ProgressBar bar = bar("importing and copying", 2L * rows * (runs + 1))) {
                return ImportSpeed.measure(
                    throwAway(folder.resolve("home")), folder, rows, runs, bar::stepBy);
              }
            });
    print(measured);
    return 0;
  }

  @Command(
      name = "backfill",
      description =
          "Prints how fast a table migration fills a table, against one UPDATE and one INSERT.",
      mixinStandardHelpOptions = true)
  int backfillSpeed(
      @Option(
              names = "--rows",
              defaultValue = "500000",
              description = "Rows, 1000 to 10000000. Default: ${DEFAULT-VALUE}.")
          int rows,
      @Option(
              names = "--runs",
              defaultValue = "3",
              description = "Runs of each, 1 to 100. Default: ${DEFAULT-VALUE}.")
          int runs)
      throws CommandFailed, IOException {
    if (rows < 1_000 || rows > 10_000_000 || runs < 1 || runs > 100) {
      throw new Misused("--rows must be 1000 to 10000000, --runs 1 to 100.");
    }
    long steps = (long) BackfillSpeed.PARTS * rows * (runs + 1);
    List<Row> measured =
        inFolder(
            folder -> {
              try (ProgressBar bar = bar("filling", steps)) {
                return BackfillSpeed.measure(
                    throwAway(folder.resolve("home")), rows, runs, bar::stepBy);
              }
            });
    print(measured);
    return 0;
  }

  private void print(List<Row> rows) {
    Report report = new Report(Instant.now().toString(), Map.of(), List.of(), rows);
    PrintWriter out = spec.commandLine().getOut();
    out.println(TableText.of(report));
    out.flush();
  }

  private void print(MappingSize.Result result) {
    PrintWriter out = spec.commandLine().getOut();
    out.printf("%nmappings            %,15d%n", result.rows());
    out.printf("table, bytes        %,15d%n", result.heapBytes());
    out.printf("token index, bytes  %,15d%n", result.tokenIndexBytes());
    out.printf("key index, bytes    %,15d%n", result.keyIndexBytes());
    out.printf("all, bytes          %,15d%n", result.totalBytes());
    out.printf("bytes per mapping   %15.1f%n", result.bytesPerMapping());
    out.flush();
  }

  /** What is measured in a folder. */
  @FunctionalInterface
  interface Work<T> {
    T in(Path folder) throws CommandFailed, StartFailed, IOException, InterruptedException;
  }

  /** Measures in a new folder, which is removed afterwards, also on Ctrl-C. */
  static <T> T inFolder(Work<T> work) throws CommandFailed, IOException {
    TemporaryFolder folder = TemporaryFolder.make("coatcheck-bench-");
    try {
      return work.in(folder.path());
    } catch (StartFailed | MeasureFailed failed) {
      throw new CommandFailed(String.valueOf(failed.getMessage()));
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      throw new CommandFailed("interrupted.");
    } finally {
      folder.remove();
    }
  }

  static ProgressBar bar(String task, long max) {
    return new ProgressBarBuilder()
        .setTaskName(task)
        .setInitialMax(max)
        .setStyle(ProgressBarStyle.ASCII)
        .build();
  }

  static Config throwAway(Path home) throws CommandFailed {
    return config(Map.of(Setting.HOME, home.toString(), Setting.PORT, "0"));
  }

  /** Nothing of it comes from the environment. */
  static Config config(Map<Setting, String> settings) throws CommandFailed {
    return switch (Config.read(Map.of(), settings)) {
      case Config.Parsed.Valid(Config config) -> config;
      case Config.Parsed.Invalid(List<String> faults) ->
          throw new Misused(String.join("\n", faults));
    };
  }
}
