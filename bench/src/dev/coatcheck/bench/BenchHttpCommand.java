package dev.coatcheck.bench;

import dev.coatcheck.app.boot.Config;
import dev.coatcheck.app.boot.Setting;
import dev.coatcheck.app.boot.StartFailed;
import dev.coatcheck.app.client.CommandFailed;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;
import me.tongfei.progressbar.ProgressBarStyle;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code coatcheck bench http}: a gateway over HTTP, against what the machine does without one. */
@Command(
    name = "http",
    description =
        "Prints how fast a gateway of its own answers over HTTP, as ratios to baselines on the same"
            + " machine.",
    mixinStandardHelpOptions = true)
final class BenchHttpCommand implements Callable<Integer> {
  private static final int ROWS_MIN = 1_000;
  private static final int ROWS_MAX = 10_000_000;
  private static final double SECONDS_MIN = 0.05;
  private static final double SECONDS_MAX = 60;
  private static final int ROUNDS_MAX = 100;
  private static final int CONNECTIONS_MAX = 1_024;

  @Spec private CommandSpec spec;

  @Option(
      names = "--seconds",
      defaultValue = "2",
      description = "Length of a round, 0.05 to 60. Default: ${DEFAULT-VALUE}.")
  private double seconds;

  @Option(
      names = "--rounds",
      defaultValue = "3",
      description = "Rounds of each, 1 to 100. Default: ${DEFAULT-VALUE}.")
  private int rounds;

  @Option(
      names = "--connections",
      defaultValue = "64",
      description = "That send requests at the same time, 1 to 1024. Default: ${DEFAULT-VALUE}.")
  private int connections;

  @Option(
      names = "--rows",
      defaultValue = "200000",
      description = "Mappings to mint before, 1000 to 10000000. Default: ${DEFAULT-VALUE}.")
  private int rows;

  @Option(
      names = "--only",
      split = ",",
      description = "Comma list of ${COMPLETION-CANDIDATES}. Default: all.")
  private @Nullable List<Measure> only;

  @Option(
      names = "--database-url",
      description =
          "A Postgres without mappings, which keeps those that are minted. Default: a throw-away"
              + " one. [COATCHECK_DATABASE_URL]")
  private @Nullable String databaseUrl;

  @Option(names = "--database-user", description = "Its user. [COATCHECK_DATABASE_USER]")
  private @Nullable String databaseUser;

  @Option(
      names = "--database-password-file",
      description =
          "File that holds that user's password. [COATCHECK_DATABASE_PASSWORD_FILE; or the password"
              + " itself in COATCHECK_DATABASE_PASSWORD]")
  private @Nullable String databasePasswordFile;

  @Override
  public Integer call() throws CommandFailed, IOException {
    requireSane();
    HttpSpeed.Plan plan =
        new HttpSpeed.Plan(
            only == null ? EnumSet.allOf(Measure.class) : EnumSet.copyOf(only),
            connections,
            rows,
            Duration.ofNanos((long) (seconds * 1e9)),
            rounds);
    Path folder = Files.createTempDirectory("coatcheck-bench");
    try {
      switch (measure(plan, folder)) {
        case HttpSpeed.Outcome.Measured(List<Comparison> comparisons) -> print(comparisons);
        case HttpSpeed.Outcome.Occupied _ ->
            throw new CommandFailed("the database holds mappings. Give an empty one.");
      }
    } catch (StartFailed failed) {
      throw new CommandFailed(String.valueOf(failed.getMessage()));
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      throw new CommandFailed("interrupted.");
    } finally {
      BenchCommand.delete(folder);
    }
    return 0;
  }

  private void requireSane() throws CommandFailed {
    if (!(seconds >= SECONDS_MIN && seconds <= SECONDS_MAX)
        || rounds < 1
        || rounds > ROUNDS_MAX
        || connections < 1
        || connections > CONNECTIONS_MAX
        || rows < ROWS_MIN
        || rows > ROWS_MAX) {
      throw new CommandFailed(
          "--seconds must be 0.05 to 60, --rounds 1 to 100, --connections 1 to 1024,"
              + " --rows 1000 to 10000000.");
    }
  }

  private HttpSpeed.Outcome measure(HttpSpeed.Plan plan, Path folder)
      throws CommandFailed, StartFailed, IOException, InterruptedException {
    Path home = Files.createDirectory(folder.resolve("home"));
    Path nginx = Files.createDirectory(folder.resolve("nginx"));
    Config config = config(home);
    try (ProgressBar bar =
        new ProgressBarBuilder()
            .setTaskName("measuring")
            .setInitialMax(plan.steps())
            .setStyle(ProgressBarStyle.ASCII)
            .build()) {
      return HttpSpeed.measure(config, nginx, plan, bar::stepBy);
    }
  }

  /** Only the database comes from outside: all else would change what is measured. */
  private Config config(Path home) throws CommandFailed {
    Map<Setting, String> settings = new EnumMap<>(Setting.class);
    settings.put(Setting.HOME, home.toString());
    settings.put(Setting.PORT, "0");
    put(settings, Setting.DATABASE_URL, databaseUrl);
    put(settings, Setting.DATABASE_USER, databaseUser);
    put(settings, Setting.DATABASE_PASSWORD_FILE, databasePasswordFile);
    if (databasePasswordFile == null) {
      put(settings, Setting.DATABASE_PASSWORD, null);
    }
    return BenchCommand.config(settings);
  }

  private static void put(Map<Setting, String> settings, Setting setting, @Nullable String flag) {
    String value = flag == null ? System.getenv(setting.variable()) : flag;
    if (value != null) {
      settings.put(setting, value);
    }
  }

  private void print(List<Comparison> comparisons) {
    PrintWriter out = spec.commandLine().getOut();
    out.printf(
        "%n%d cores, shared by generator, gateway and Postgres; %d connections; medians of %d"
            + " rounds of %s s; %,d mappings at the start%n%n",
        Runtime.getRuntime().availableProcessors(), connections, rounds, seconds, rows);
    String row = "%-3s %-37s %11s  %-37s %11s  %-14s %6s  %-7s %s%n";
    out.printf(row, "", "measure", "", "baseline", "", "unit", "ratio", "goal", "");
    comparisons.stream()
        .sorted(Comparator.comparing(Comparison::measure))
        .forEach(
            one ->
                out.printf(
                    row,
                    one.measure(),
                    one.measure().what(),
                    figure(one, one.measured()),
                    one.against(),
                    figure(one, one.baseline()),
                    one.measure().unit(),
                    "%.2f".formatted(one.ratio()),
                    (one.measure().isTime() ? "<= " : ">= ") + one.measure().goal(),
                    one.isMet() ? "met" : "missed"));
    out.flush();
  }

  private static String figure(Comparison one, double value) {
    return (one.measure().isTime() ? "%.2f" : "%,.0f").formatted(value);
  }
}
