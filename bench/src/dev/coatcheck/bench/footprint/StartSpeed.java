package dev.coatcheck.bench.footprint;

import dev.coatcheck.bench.machine.GatewayProcess;
import dev.coatcheck.bench.machine.JavaProgram;
import dev.coatcheck.bench.machine.Launcher;
import dev.coatcheck.bench.machine.MeasureFailed;
import dev.coatcheck.bench.report.Goal;
import dev.coatcheck.bench.report.Row;
import dev.coatcheck.bench.report.Samples;
import dev.coatcheck.bench.speed.Measure;
import dev.coatcheck.postgres.connection.UnusableDatabase;
import dev.coatcheck.postgres.embedded.EmbeddedDatabase;
import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * P12: from the start of the process to the first 200, with an embedded cluster that exists. The
 * baseline is a bare Javalin with the same JVM options, and the embedded Postgres alone, and half a
 * second.
 */
public final class StartSpeed {
  static final String PATH = "/health/ready";

  private static final double ADDED_SECONDS = 0.5;
  private static final Goal WITHOUT_CACHE = Goal.ratioAtMost(1);
  private static final Goal WITH_CACHE = Goal.ratioAtMost(0.5);

  private final Launcher launcher;
  private final Path home;
  private final HttpClient client;

  private StartSpeed(Launcher launcher, Path home, HttpClient client) {
    this.launcher = launcher;
    this.home = home;
    this.client = client;
  }

  /**
   * Measures in turns.
   *
   * @param home where no cluster is yet
   * @param rounds starts of each that count, after one that doesn't
   */
  public static List<Row> measure(Launcher launcher, Path home, int rounds)
      throws IOException, InterruptedException {
    try (HttpClient client = HttpClient.newHttpClient()) {
      return new StartSpeed(launcher, home, client).measure(rounds);
    }
  }

  private List<Row> measure(int rounds) throws IOException, InterruptedException {
    List<Double> cached = new ArrayList<>();
    List<Double> uncached = new ArrayList<>();
    List<Double> base = new ArrayList<>();
    for (int round = 0; round <= rounds; round++) {
      double with = launcher.hasCaches() ? gatewaySeconds(launcher) : 0;
      double without = gatewaySeconds(launcher.withoutCaches());
      double sum = javalinSeconds() + postgresSeconds() + ADDED_SECONDS;
      if (round > 0) {
        cached.add(with);
        uncached.add(without);
        base.add(sum);
      }
    }
    Row.Baseline baseline = new Row.Baseline("bare Javalin + Postgres + 0.5 s", new Samples(base));
    List<Row> rows = new ArrayList<>();
    if (launcher.hasCaches()) {
      rows.add(row("", "", cached, baseline, WITH_CACHE));
    }
    rows.add(row(" no cache", ", no cache of classes", uncached, baseline, WITHOUT_CACHE));
    return rows;
  }

  private static Row row(
      String suffix, String note, List<Double> seconds, Row.Baseline baseline, Goal goal) {
    return new Row(
        Measure.P12 + suffix,
        Measure.P12.what() + note,
        "s",
        true,
        new Samples(seconds),
        Optional.of(baseline),
        Optional.of(goal));
  }

  private double gatewaySeconds(Launcher by) throws IOException, InterruptedException {
    return seconds(
        by.builder(Map.of("COATCHECK_HOME", home.toString(), "COATCHECK_PORT", "0"), "serve"));
  }

  private double javalinSeconds() throws IOException, InterruptedException {
    return seconds(
        JavaProgram.named(BareJavalin.class.getName())
            .options(GatewayProcess.jvmOptions())
            .builder(List.of()));
  }

  private double seconds(ProcessBuilder server) throws IOException, InterruptedException {
    long begun = System.nanoTime();
    try (GatewayProcess started =
        GatewayProcess.started(server.redirectError(ProcessBuilder.Redirect.DISCARD))) {
      HttpRequest ready = HttpRequest.newBuilder(started.url().resolve(PATH)).build();
      int status = client.send(ready, HttpResponse.BodyHandlers.discarding()).statusCode();
      if (status != 200) {
        throw new MeasureFailed("the first answer has status " + status + ", not 200");
      }
      return (System.nanoTime() - begun) / 1e9;
    }
  }

  private double postgresSeconds() {
    long begun = System.nanoTime();
    try (EmbeddedDatabase _ = EmbeddedDatabase.start(home)) {
      return (System.nanoTime() - begun) / 1e9;
    } catch (UnusableDatabase failed) {
      throw new MeasureFailed(String.valueOf(failed.getMessage()));
    }
  }
}
