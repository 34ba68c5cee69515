package dev.coatcheck.bench.speed;

import dev.coatcheck.bench.baseline.NginxRedirect;
import dev.coatcheck.bench.baseline.PostgresBaselines;
import dev.coatcheck.bench.load.Generator;
import dev.coatcheck.bench.load.Load;
import dev.coatcheck.bench.load.LoadSpec;
import dev.coatcheck.bench.machine.CpuClock;
import dev.coatcheck.bench.machine.GatewayProcess;
import dev.coatcheck.bench.report.Goal;
import dev.coatcheck.bench.report.Row;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** The measures that read: redirects and resolves, from memory and from Postgres. */
record Reads(
    GatewayProcess gateway,
    Requests requests,
    InterleavedRounds turns,
    Generator generator,
    Goals goals) {
  /** How many IDs are asked for again and again; the warm-up fills the cache. */
  static final int CACHED = 1_000;

  private static final int SELECTING_CLIENTS = 8;
  private static final int POOL_SIZE = 10;

  /** P1 and P2. */
  List<Row> cached(Set<Measure> measures, Path ids, Path folder)
      throws IOException, InterruptedException {
    List<Row> all = new ArrayList<>();
    if (measures.contains(Measure.P1)) {
      Optional<NginxRedirect> nginx = NginxRedirect.start(folder, Requests.LOCATION);
      try {
        all.addAll(redirects(requests.redirects(ids), nginx));
      } finally {
        nginx.ifPresent(NginxRedirect::close);
      }
    }
    if (measures.contains(Measure.P2)) {
      all.addAll(
          pair(
              new Rows(Measure.P2, Measure.P2.what()),
              requests.resolves(ids),
              requests.nothing(),
              "its own /health/live",
              gateway.cpu(),
              new PairGoals(goals.at(Goal.ratioAtLeast(1.5)), Optional.empty(), Optional.empty())));
    }
    return all;
  }

  private List<Row> redirects(LoadSpec redirects, Optional<NginxRedirect> nginx)
      throws IOException {
    int selectors = gateway.selectors().orElse(0);
    Rows rows =
        new Rows(
            Measure.P1,
            Measure.P1.what()
                + (selectors == 0
                    ? ""
                    : selectors == 1 ? ", 1 selector" : ", " + selectors + " selectors"));
    if (nginx.isEmpty()) {
      return pair(
          rows,
          redirects,
          requests.nothing(),
          "its own /health/live",
          gateway.cpu(),
          PairGoals.NONE);
    }
    return pair(
        rows,
        redirects,
        redirects.to(
            nginx.get().address().getAddress().getHostAddress(), nginx.get().address().getPort()),
        "nginx return 302",
        nginx.get().cpu(),
        new PairGoals(
            goals.at(Goal.ratioAtLeast(0.75)),
            goals.at(Goal.ratioAtMost(1.6)),
            goals.at(Goal.ratioAtMost(2))));
  }

  /** Of the rate, the CPU and the p99 at half load. */
  private record PairGoals(Optional<Goal> rate, Optional<Goal> cpu, Optional<Goal> p99) {
    static final PairGoals NONE =
        new PairGoals(Optional.empty(), Optional.empty(), Optional.empty());
  }

  /** A measure and a baseline that are both HTTP. Both get the same load in the open loop. */
  private List<Row> pair(
      Rows rows,
      LoadSpec measured,
      LoadSpec baseline,
      String against,
      CpuClock server,
      PairGoals goals)
      throws IOException {
    try (Load load = Load.of(measured, generator);
        Load base = Load.of(baseline, generator)) {
      List<Turns> closed =
          turns.take(
              rows.name(),
              List.of(
                  new Side("the gateway", load::closed, gateway.cpu()),
                  new Side(against, base::closed, server)));
      rows.rate("a second", closed.get(0), closed.get(1), goals.rate())
          .gatewayCpu(closed.get(0), closed.get(1), goals.cpu());
      double half = closed.getFirst().rates().median() / 2;
      List<Turns> open =
          turns.alternate(
              rows.name() + " at half load",
              List.of(
                  new Side("the gateway", time -> load.open(time, half), gateway.cpu()),
                  new Side(against, time -> base.open(time, half), server)));
      return rows.latency(open.get(0), Optional.of(open.get(1)), goals.p99()).all();
    }
  }

  /** P3 and P8, of a gateway that caches nothing. */
  List<Row> uncached(Set<Measure> measures, Path ids, PostgresBaselines postgres)
      throws IOException {
    List<Row> all = new ArrayList<>();
    try (Load load = Load.of(requests.resolves(ids), generator)) {
      Side resolves = new Side("the gateway", load::closed, gateway.cpu());
      Turns capacity;
      if (measures.contains(Measure.P3)) {
        List<Turns> closed =
            turns.take(
                Measure.P3.name(),
                List.of(
                    resolves,
                    new Side(
                        PostgresBaselines.name() + " select, " + SELECTING_CLIENTS + " clients",
                        time -> postgres.selects(SELECTING_CLIENTS, time),
                        CpuClock.unknown())));
        capacity = closed.getFirst();
        all.addAll(
            new Rows(Measure.P3, Measure.P3.what())
                .rate("a second", capacity, closed.get(1), goals.against(Goal.ratioAtLeast(1)))
                .gatewayCpu(capacity, closed.get(1), goals.at(Goal.atMost(50)))
                .postgresCpu(capacity, closed.get(1), goals.at(Goal.atMost(15)))
                .all());
      } else {
        capacity = turns.take(Measure.P8.name(), List.of(resolves)).getFirst();
      }
      if (measures.contains(Measure.P8)) {
        all.addAll(atHalfLoad(load, capacity.rates().median() / 2, postgres));
      }
    }
    return all;
  }

  private List<Row> atHalfLoad(Load load, double perSecond, PostgresBaselines postgres) {
    int callers = requests.connections();
    List<Turns> open =
        turns.alternate(
            Measure.P8.name(),
            List.of(
                new Side("the gateway", time -> load.open(time, perSecond), gateway.cpu()),
                new Side(
                    "JDBC select each, pool of " + POOL_SIZE,
                    time -> postgres.pooledSelects(callers, POOL_SIZE, time, perSecond),
                    CpuClock.unknown())));
    return new Rows(Measure.P8, Measure.P8.what())
        .latency(open.get(0), Optional.of(open.get(1)), goals.at(Goal.ratioAtMost(0.5)))
        .all();
  }
}
