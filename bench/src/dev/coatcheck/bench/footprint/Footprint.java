package dev.coatcheck.bench.footprint;

import dev.coatcheck.bench.load.Generator;
import dev.coatcheck.bench.load.Load;
import dev.coatcheck.bench.load.LoadResult;
import dev.coatcheck.bench.load.LoadSpec;
import dev.coatcheck.bench.machine.GatewayProcess;
import dev.coatcheck.bench.machine.Launcher;
import dev.coatcheck.bench.machine.MeasureFailed;
import dev.coatcheck.bench.report.Goal;
import dev.coatcheck.bench.report.Row;
import dev.coatcheck.bench.report.Samples;
import dev.coatcheck.bench.speed.Measure;
import dev.coatcheck.postgres.connection.UnusableDatabase;
import dev.coatcheck.postgres.embedded.EmbeddedDatabase;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * P13, P22 and P23: memory and statements of a gateway that the launcher has started and that has
 * nothing to do, the CPU of a verb that calls it, and its memory after a load.
 */
public final class Footprint {
  private static final double MEGA = 1e6;
  private static final int CALLS = 5;
  private static final int CONNECTIONS = 64;
  private static final String TYPE = "bench";

  /** A start leaves compilations and connections behind, which take some seconds. */
  private static final Duration SETTLE = Duration.ofSeconds(8);

  private final Launcher launcher;
  private final Path home;
  private final Plan plan;
  private final GatewayProcess gateway;

  private Footprint(Launcher launcher, Path home, Plan plan, GatewayProcess gateway) {
    this.launcher = launcher;
    this.home = home;
    this.plan = plan;
    this.gateway = gateway;
  }

  /**
   * What to measure.
   *
   * @param idle how long statements are counted
   * @param load how long mints come in
   */
  public record Plan(Set<Measure> measures, Duration idle, Duration load, Generator generator) {}

  /**
   * Measures a gateway of its own.
   *
   * @param home where no cluster is yet
   */
  public static List<Row> measure(Launcher launcher, Path home, Plan plan)
      throws IOException, InterruptedException {
    ProcessBuilder serve =
        launcher
            .builder(Map.of("COATCHECK_HOME", home.toString(), "COATCHECK_PORT", "0"), "serve")
            .redirectError(ProcessBuilder.Redirect.INHERIT);
    // The first start makes the cluster, which takes memory that no later start does.
    try (GatewayProcess _ = GatewayProcess.started(serve)) {}
    try (GatewayProcess gateway = GatewayProcess.started(serve)) {
      return new Footprint(launcher, home, plan, gateway).measure();
    }
  }

  private List<Row> measure() throws IOException, InterruptedException {
    List<Row> rows = new ArrayList<>();
    Thread.sleep(SETTLE);
    if (plan.measures().contains(Measure.P13)) {
      rows.add(memory("", "idle", 120));
    }
    if (plan.measures().contains(Measure.P22)) {
      rows.add(statements());
    }
    if (plan.measures().contains(Measure.P23)) {
      rows.add(call());
    }
    if (plan.measures().contains(Measure.P13)) {
      load();
      rows.add(memory(" loaded", "after " + plan.load().toSeconds() + " s of mints", 260));
    }
    return rows;
  }

  private Row memory(String suffix, String when, int megabytesMax) {
    double bytes =
        gateway
            .residentBytes()
            .orElseThrow(() -> new MeasureFailed("this system doesn't tell a process's memory"));
    return row(Measure.P13, suffix, ", " + when, "MB", Samples.of(bytes / MEGA), megabytesMax);
  }

  private Row statements() throws IOException, InterruptedException {
    StatementLogStore log;
    try {
      log =
          new StatementLogStore(
              EmbeddedDatabase.running(home, 1).orElseThrow(), home.resolve("postgres.log"));
    } catch (UnusableDatabase failed) {
      throw new MeasureFailed(String.valueOf(failed.getMessage()));
    }
    log.begin();
    long before = log.count();
    long begun = System.nanoTime();
    Thread.sleep(plan.idle());
    double perSecond = (log.count() - before) * 1e9 / (System.nanoTime() - begun);
    log.end();
    return row(Measure.P22, "", "", "a second", Samples.of(perSecond), 3);
  }

  private Row call() throws IOException {
    List<Double> seconds = new ArrayList<>();
    for (int call = 0; call <= CALLS; call++) {
      double taken = launcher.cpuSeconds(settings(), "types", "list");
      if (call > 0) { // the first finds no file in memory
        seconds.add(taken);
      }
    }
    return row(Measure.P23, "", ", types list", "s CPU", new Samples(seconds), 0.6);
  }

  private void load() throws IOException {
    double _ = launcher.cpuSeconds(settings(), "types", "put", TYPE, "--prefix", "bench");
    String key = Files.readString(home.resolve("dev-key")).strip();
    LoadSpec mints =
        new LoadSpec(
            gateway.url().getHost(),
            gateway.url().getPort(),
            CONNECTIONS,
            "POST",
            "/v1/ids",
            Map.of("Authorization", "Bearer " + key, "Content-Type", "application/json"),
            "{\"type\":\"" + TYPE + "\"}",
            Optional.empty());
    try (Load load = Load.of(mints, plan.generator())) {
      LoadResult _ = load.closed(plan.load());
    }
  }

  private Map<String, String> settings() {
    return Map.of("COATCHECK_URL", gateway.url().toString(), "COATCHECK_HOME", home.toString());
  }

  private static Row row(
      Measure measure, String suffix, String note, String unit, Samples samples, double most) {
    return new Row(
        measure + suffix,
        measure.what() + note,
        unit,
        true,
        samples,
        Optional.empty(),
        Optional.of(Goal.atMost(most)));
  }
}
