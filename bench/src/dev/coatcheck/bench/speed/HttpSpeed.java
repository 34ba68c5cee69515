package dev.coatcheck.bench.speed;

import dev.coatcheck.app.boot.Config;
import dev.coatcheck.app.boot.StartFailed;
import dev.coatcheck.bench.baseline.PostgresBaselines;
import dev.coatcheck.bench.load.Generator;
import dev.coatcheck.bench.machine.GatewayProcess;
import dev.coatcheck.bench.report.Row;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;

/**
 * P1 to P5, P8, P18 and P21: what gateways in processes of their own answer over HTTP, against what
 * the same machine does without a gateway. Generator, gateway and Postgres share that machine.
 */
public final class HttpSpeed {
  private HttpSpeed() {}

  /**
   * What to measure.
   *
   * @param connections that send requests at the same time
   * @param rows that are there before
   * @param round how long each turn takes
   * @param rounds how many turns of each measure and each baseline count
   * @param warmUp how long a measure runs before; may be zero
   */
  public record Plan(
      Set<Measure> measures,
      int connections,
      int rows,
      Duration round,
      int rounds,
      Duration warmUp,
      Generator generator) {}

  /** How a run ended. */
  public sealed interface Outcome {
    record Measured(List<Row> rows) implements Outcome {}

    /** The database holds mappings already, so it may be somebody's. */
    record Occupied() implements Outcome {}
  }

  /**
   * Measures on the database of the configuration, where the rows and an API key of some hours
   * stay.
   *
   * @param folder empty, for files of the run
   * @param stage hears what is done now
   */
  public static Outcome measure(Config config, Path folder, Plan plan, Consumer<String> stage)
      throws StartFailed, IOException, InterruptedException {
    stage.accept("starting");
    try (Gateways gateways = Gateways.open(config, folder);
        PostgresBaselines postgres = new PostgresBaselines(gateways.database(), plan.rows())) {
      if (postgres.holdsMappings()) {
        return new Outcome.Occupied();
      }
      InterleavedRounds turns =
          new InterleavedRounds(plan.round(), plan.rounds(), plan.warmUp(), postgres.cpu(), stage);
      return new Outcome.Measured(measure(gateways, postgres, folder, plan, turns));
    }
  }

  private static List<Row> measure(
      Gateways gateways,
      PostgresBaselines postgres,
      Path folder,
      Plan plan,
      InterleavedRounds turns)
      throws IOException, InterruptedException {
    Goals goals = new Goals(plan.connections());
    List<Row> all = new ArrayList<>();
    try (GatewayProcess uncached = gateways.start(0)) {
      gateways.register(uncached.url());
      turns.stage().accept("writing %,d rows".formatted(plan.rows()));
      postgres.fill(Requests.TYPE);
      if (plan.measures().contains(Measure.P3) || plan.measures().contains(Measure.P8)) {
        Path ids = Requests.writeIds(folder.resolve("all.ids"), plan.rows());
        all.addAll(
            new Reads(uncached, requests(uncached, gateways, plan), turns, plan.generator(), goals)
                .uncached(plan.measures(), ids, postgres));
      }
    }
    int few = Math.min(Reads.CACHED, plan.rows());
    Path ids = Requests.writeIds(folder.resolve("few.ids"), few);
    try (GatewayProcess cached = gateways.start(few + OlderReads.CACHED)) {
      Requests requests = requests(cached, gateways, plan);
      Path nginx = Files.createDirectory(folder.resolve("nginx"));
      all.addAll(
          new Reads(cached, requests, turns, plan.generator(), goals)
              .cached(plan.measures(), ids, nginx));
      all.addAll(
          new Writes(cached, requests, postgres, turns, plan.generator(), goals)
              .measure(plan.measures()));
      if (plan.measures().contains(Measure.P21)) {
        all.addAll(
            new OlderReads(cached, gateways, requests, turns, plan.generator(), goals)
                .measure(folder));
      }
      if (plan.measures().contains(Measure.P18)) {
        all.addAll(new KeySpeed(cached, requests, turns, plan.generator(), goals).measure(ids));
      }
    }
    return all;
  }

  private static Requests requests(GatewayProcess gateway, Gateways gateways, Plan plan) {
    return new Requests(gateway.url(), gateways.key(), plan.connections());
  }
}
