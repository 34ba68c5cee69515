package dev.coatcheck.bench;

import dev.coatcheck.app.boot.Config;
import dev.coatcheck.app.boot.Setting;
import dev.coatcheck.app.client.CommandFailed;
import dev.coatcheck.bench.baseline.PostgresBaselines;
import dev.coatcheck.bench.machine.Launcher;
import dev.coatcheck.bench.machine.Tool;
import dev.coatcheck.bench.micro.MicroSpeed;
import dev.coatcheck.bench.report.ComparisonText;
import dev.coatcheck.bench.report.Report;
import dev.coatcheck.bench.report.Row;
import dev.coatcheck.bench.report.TablePicture;
import dev.coatcheck.bench.report.TableText;
import dev.coatcheck.bench.speed.HttpSpeed;
import dev.coatcheck.bench.speed.Measure;
import java.io.IOException;
import java.io.PrintWriter;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code coatcheck bench table}: the whole table, or some measures of it. */
@Command(
    name = "table",
    description =
        "Prints how fast a gateway of its own is, as ratios to baselines on the same machine.",
    mixinStandardHelpOptions = true,
    sortOptions = false)
final class TableCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;

  @Mixin private TableOptions options = new TableOptions();

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
    boolean hasDatabase = value(Setting.DATABASE_URL, databaseUrl).isPresent();
    options.requireSane(hasDatabase);
    Optional<Report> earlier = options.earlier();
    HttpSpeed.Plan plan = options.plan(hasDatabase);
    String begun = Instant.now().truncatedTo(ChronoUnit.SECONDS).toString();
    double load = ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage();
    Report report =
        new Report(begun, conditions(plan, load), notes(plan, load), measureBeside(plan));
    PrintWriter out = spec.commandLine().getOut();
    out.println(TableText.of(report));
    earlier.ifPresent(before -> out.println(ComparisonText.of(before, report)));
    out.flush();
    if (options.json().isPresent()) {
      report.write(options.json().get());
    }
    if (options.svg().isPresent()) {
      Files.writeString(options.svg().get(), TablePicture.of(report));
    }
    return 0;
  }

  private List<Row> measureBeside(HttpSpeed.Plan plan) throws CommandFailed, IOException {
    return BenchCommand.inFolder(
        folder -> {
          Config requests = config(Files.createDirectory(folder.resolve("home")));
          return new TableRun(plan, folder, this::stage).rows(requests);
        });
  }

  private void stage(String now) {
    spec.commandLine().getErr().println("coatcheck bench: " + now + " …");
  }

  private static Map<String, String> conditions(HttpSpeed.Plan plan, double load) {
    Map<String, String> all = new LinkedHashMap<>();
    all.put(
        "machine",
        "%d cores, shared by generator, gateway and Postgres"
            .formatted(Runtime.getRuntime().availableProcessors()));
    all.put("load average at the start", String.format(Locale.ROOT, "%.1f", load));
    all.put("generator", plan.generator().text());
    all.put("connections", Integer.toString(plan.connections()));
    all.put("rows", Integer.toString(plan.rows()));
    all.put(
        "rounds",
        "%d of %d s, after %d s of warm-up"
            .formatted(plan.rounds(), plan.round().toSeconds(), plan.warmUp().toSeconds()));
    return all;
  }

  private static List<String> notes(HttpSpeed.Plan plan, double load) {
    List<String> notes = new ArrayList<>();
    if (load > Runtime.getRuntime().availableProcessors() / 2.0) {
      notes.add("other programs are using this machine, so the figures mean little.");
    }
    if (plan.measures().contains(Measure.P1) && !Tool.named("nginx").isInstalled()) {
      notes.add("nginx is not installed, so P1 has no goal.");
    }
    if (!PostgresBaselines.hasPgbench()) {
      notes.add("pgbench is not installed, so JDBC stands in for it, and P3 and P4 have no goal.");
    }
    if (plan.measures().contains(Measure.P9) && !MicroSpeed.isBuilt()) {
      notes.add("P9 to P11 are missing: only Maven builds the benchmarks of JMH.");
    }
    if (plan.measures().contains(Measure.P12) && !Launcher.find().hasCaches()) {
      notes.add(
          "./coatcheck did not start this, so P12, P13 and P23 are without cache of classes.");
    }
    if (plan.connections() != 64) {
      notes.add("most goals are set for 64 connections, and left out here.");
    }
    if (!plan.generator().isCheap()) {
      notes.add(
          "wrk sends the requests with less CPU than the generator of our own; ratios are lower"
              + " with the latter.");
    }
    return notes;
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
    value(setting, flag).ifPresent(value -> settings.put(setting, value));
  }

  private static Optional<String> value(Setting setting, @Nullable String flag) {
    return Optional.ofNullable(flag == null ? System.getenv(setting.variable()) : flag);
  }
}
