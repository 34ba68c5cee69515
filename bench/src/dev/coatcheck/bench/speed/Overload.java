package dev.coatcheck.bench.speed;

import dev.coatcheck.app.boot.Config;
import dev.coatcheck.app.boot.StartFailed;
import dev.coatcheck.bench.baseline.PostgresBaselines;
import dev.coatcheck.bench.load.Generator;
import dev.coatcheck.bench.load.Load;
import dev.coatcheck.bench.load.LoadResult;
import dev.coatcheck.bench.load.LoadSpec;
import dev.coatcheck.bench.machine.GatewayProcess;
import dev.coatcheck.bench.machine.Tool;
import dev.coatcheck.bench.report.Goal;
import dev.coatcheck.bench.report.Row;
import dev.coatcheck.bench.report.Samples;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.ToDoubleFunction;

/**
 * A gateway that is offered more uncached resolves than it can serve: on one core, where {@code
 * taskset} can see to that, with the generator on another.
 */
public final class Overload {
  /** A load that a gateway hardly feels, as a part of its capacity. */
  private static final double CALM = 0.1;

  private static final int PEAK_CONNECTIONS = 64;

  private Overload() {}

  /** What the requests ask for. */
  public enum Requested {
    /** One by one: a refusal costs nearly as much as an answer. */
    RESOLVES,
    /** Many at a time: an answer costs many times as much as a refusal. */
    BATCHES;

    /** Over as many connections as a gateway serves most. */
    private LoadSpec of(Requests requests, Path ids) throws IOException {
      return switch (this) {
        case RESOLVES -> requests.resolves(ids);
        case BATCHES -> requests.batchResolves(ids);
      };
    }
  }

  /**
   * What to offer.
   *
   * @param times of the capacity, which is measured before
   * @param connections so many that a slow answer doesn't keep the next request back
   */
  public record Plan(
      Requested requested,
      Duration time,
      double times,
      int connections,
      int rows,
      Duration warmUp) {}

  /**
   * What came of it.
   *
   * @param residentBytes of the gateway at the end of each second; may be shorter
   */
  public record Result(
      double offeredPerSecond,
      List<LoadResult.Second> timeline,
      List<Long> residentBytes,
      List<Row> rows) {}

  /** Measures on the embedded Postgres of the configuration, which must be new. */
  public static Result measure(Config config, Path folder, Plan plan, Consumer<String> stage)
      throws StartFailed, IOException, InterruptedException {
    stage.accept("starting");
    try (Gateways gateways = Gateways.open(config, folder);
        PostgresBaselines postgres = new PostgresBaselines(gateways.database(), plan.rows());
        GatewayProcess gateway = gateways.start(0, onCore(0))) {
      gateways.register(gateway.url());
      postgres.fill(Requests.TYPE);
      Path ids = Requests.writeIds(folder.resolve("all.ids"), plan.rows());
      Requests requests = new Requests(gateway.url(), gateways.key(), PEAK_CONNECTIONS);
      LoadSpec one = plan.requested().of(requests, ids);
      try (Load peak = Load.of(one, Generator.OWN, onCore(1));
          Load flood = Load.of(one.over(plan.connections()), Generator.OWN, onCore(1))) {
        return measure(gateway, peak, flood, plan, stage);
      }
    }
  }

  private static Result measure(
      GatewayProcess gateway, Load peak, Load flood, Plan plan, Consumer<String> stage) {
    stage.accept("warms up");
    if (plan.warmUp().isPositive()) {
      double roughly = peak.closed(plan.warmUp()).servedPerSecond();
      // Refusals are code as well, which a JVM compiles when it is used.
      LoadResult _ = flood.open(plan.warmUp().dividedBy(4), roughly * plan.times());
    }
    stage.accept("measures the capacity");
    Duration some = plan.time().dividedBy(4);
    double capacity = peak.closed(some).requireServed("the capacity").servedPerSecond();
    LoadResult calm = peak.open(some, capacity * CALM).requireServed("a calm load");
    double offered = capacity * plan.times();
    stage.accept("offers %,.0f requests a second".formatted(offered));
    List<Long> memory = Collections.synchronizedList(new ArrayList<>());
    LoadResult result;
    try (ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor()) {
      Future<?> sampling =
          clock.scheduleAtFixedRate(
              () -> gateway.residentBytes().ifPresent(memory::add), 1, 1, TimeUnit.SECONDS);
      result = flood.open(plan.time(), offered);
      sampling.cancel(false);
    }
    stage.accept("watches the recovery");
    LoadResult after = peak.open(plan.time(), capacity * CALM);
    return new Result(
        offered,
        result.timeline(),
        List.copyOf(memory),
        judge(result, (int) plan.time().toSeconds(), capacity, calm, after));
  }

  /** The goals of the overload, in its so many seconds. */
  static List<Row> judge(
      LoadResult result, int seconds, double capacity, LoadResult calm, LoadResult after) {
    // After the end come the answers that were late.
    List<LoadResult.Second> full =
        result.timeline().subList(0, Math.min(seconds, result.timeline().size()));
    List<Row> rows = new ArrayList<>();
    rows.add(
        row(
            "goodput",
            "served, of the capacity",
            "ratio",
            samples(full, _ -> true, second -> second.served() / capacity),
            Goal.atLeast(0.9)));
    rows.add(
        row(
            "p99",
            "of the served, to that of a calm load",
            "ratio",
            samples(
                full,
                second -> second.served() > 0,
                second -> second.p99Millis() / calm.p99Millis()),
            Goal.atMost(3)));
    rows.add(
        row(
            "refusal",
            "p99 of the refused",
            "ms",
            samples(full, second -> second.refused() > 0, LoadResult.Second::refusedP99Millis),
            Goal.atMost(50)));
    rows.add(
        row(
            "recovery",
            "until a calm load is served as before",
            "s",
            Samples.of(recoverySeconds(after.timeline(), calm)),
            Goal.atMost(5)));
    return rows;
  }

  /** The end of the last second with a refusal, or a p99 over three times that of before. */
  private static double recoverySeconds(List<LoadResult.Second> after, LoadResult calm) {
    return after.stream()
        .filter(
            second ->
                second.refused() + second.broken() > 0 || second.p99Millis() > 3 * calm.p99Millis())
        .mapToInt(second -> second.second() + 1)
        .max()
        .orElse(0);
  }

  /** Zero, where no second counts. */
  private static Samples samples(
      List<LoadResult.Second> seconds,
      Predicate<LoadResult.Second> counts,
      ToDoubleFunction<LoadResult.Second> figure) {
    List<Double> figures = seconds.stream().filter(counts).map(figure::applyAsDouble).toList();
    return figures.isEmpty() ? Samples.of(0) : new Samples(figures);
  }

  private static Row row(String name, String what, String unit, Samples samples, Goal goal) {
    boolean isCost = !name.equals("goodput");
    return new Row(name, what, unit, isCost, samples, Optional.empty(), Optional.of(goal));
  }

  /** Starts a process on one core; empty where that can't be. */
  private static List<String> onCore(int core) {
    Tool taskset = Tool.named("taskset");
    return taskset.isInstalled() && Runtime.getRuntime().availableProcessors() > core
        ? List.of(taskset.path().toString(), "--cpu-list", Integer.toString(core))
        : List.of();
  }
}
