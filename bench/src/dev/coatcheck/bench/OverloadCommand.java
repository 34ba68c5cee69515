package dev.coatcheck.bench;

import dev.coatcheck.app.client.CommandFailed;
import dev.coatcheck.app.client.Misused;
import dev.coatcheck.bench.report.Report;
import dev.coatcheck.bench.report.TableText;
import dev.coatcheck.bench.speed.Overload;
import java.io.IOException;
import java.io.PrintWriter;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code coatcheck bench overload}: more requests than a gateway can serve, second by second. */
@Command(
    name = "overload",
    description =
        "Offers a gateway on one core several times its capacity, and prints second by second what"
            + " it serves and refuses, how fast, and in how much memory.",
    mixinStandardHelpOptions = true)
final class OverloadCommand implements Callable<Integer> {
  private static final int ROWS = 100_000;

  @Spec private CommandSpec spec;

  @Option(
      names = "--batches",
      description = "Offers uncached resolves in batches of 1,000 instead of one by one.")
  private boolean batches;

  @Option(
      names = "--seconds",
      defaultValue = "60",
      description = "Whole seconds of the overload, 4 to 600. Default: ${DEFAULT-VALUE}.")
  private int seconds;

  @Option(
      names = "--times",
      defaultValue = "3",
      description = "How many times the capacity is offered, 1 to 10. Default: ${DEFAULT-VALUE}.")
  private double times;

  @Option(
      names = "--connections",
      defaultValue = "1000",
      description = "Connections of the overload, 1 to 4096. Default: ${DEFAULT-VALUE}.")
  private int connections;

  @Option(
      names = "--warm-up",
      defaultValue = "60",
      description = "Whole seconds before, 0 to 600. Default: ${DEFAULT-VALUE}.")
  private int warmUp;

  @Override
  public Integer call() throws CommandFailed, IOException {
    if (seconds < 4
        || seconds > 600
        || !(times >= 1 && times <= 10)
        || connections < 1
        || connections > 4_096
        || warmUp < 0
        || warmUp > 600) {
      throw new Misused(
          "--seconds must be 4 to 600, --times 1 to 10, --connections 1 to 4096, --warm-up 0 to"
              + " 600.");
    }
    Overload.Plan plan =
        new Overload.Plan(
            batches ? Overload.Requested.BATCHES : Overload.Requested.RESOLVES,
            Duration.ofSeconds(seconds),
            times,
            connections,
            ROWS,
            Duration.ofSeconds(warmUp));
    print(
        BenchCommand.inFolder(
            folder ->
                Overload.measure(
                    BenchCommand.throwAway(folder.resolve("home")), folder, plan, this::stage)));
    return 0;
  }

  private void stage(String now) {
    spec.commandLine().getErr().println("coatcheck bench: " + now + " …");
  }

  private void print(Overload.Result result) {
    PrintWriter out = spec.commandLine().getOut();
    out.println(TableText.of(result.timeline(), result.residentBytes()));
    out.println(
        TableText.of(
            new Report(
                Instant.now().toString(),
                Map.of("offered", "%,.0f a second".formatted(result.offeredPerSecond())),
                List.of(),
                result.rows())));
    out.flush();
  }
}
