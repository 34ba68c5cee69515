package dev.coatcheck.bench.speed;

import dev.coatcheck.bench.baseline.PostgresBaselines;
import dev.coatcheck.bench.load.Generator;
import dev.coatcheck.bench.load.Load;
import dev.coatcheck.bench.machine.CpuClock;
import dev.coatcheck.bench.machine.GatewayProcess;
import dev.coatcheck.bench.report.Goal;
import dev.coatcheck.bench.report.Row;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** The measures that write: mints, one by one and in batches. */
record Writes(
    GatewayProcess gateway,
    Requests requests,
    PostgresBaselines postgres,
    InterleavedRounds turns,
    Generator generator,
    Goals goals) {
  /** How many clients insert; the best of them is the baseline. */
  private static final List<Integer> INSERTING_CLIENTS = List.of(4, 8, 16);

  /** How many connections mint in the second row of P4. */
  private static final int FEW = 8;

  List<Row> measure(Set<Measure> measures) throws IOException {
    List<Row> all = new ArrayList<>();
    if (measures.contains(Measure.P4)) {
      all.addAll(mints());
    }
    if (measures.contains(Measure.P5)) {
      all.addAll(batches());
    }
    return all;
  }

  private List<Row> mints() throws IOException {
    try (Load load = Load.of(requests.mints(), generator);
        Load few = Load.of(requests.mints().over(FEW), generator)) {
      List<Side> sides = new ArrayList<>();
      sides.add(new Side("the gateway", load::closed, gateway.cpu()));
      sides.add(new Side("the gateway", few::closed, gateway.cpu()));
      for (int clients : INSERTING_CLIENTS) {
        sides.add(
            new Side(
                PostgresBaselines.name() + " insert, " + clients + " clients",
                time -> postgres.inserts(clients, time),
                CpuClock.unknown()));
      }
      List<Turns> taken = turns.take(Measure.P4.name(), sides);
      Turns minted = taken.getFirst();
      Turns best =
          taken.stream()
              .skip(2)
              .max(Comparator.comparingDouble(one -> one.rates().median()))
              .orElseThrow();
      Rows rows =
          new Rows(Measure.P4, Measure.P4.what())
              .rate("a second", minted, best, goals.against(Goal.ratioAtLeast(1.8)))
              .rate(
                  " at 8",
                  ", 8 connections",
                  "a second",
                  taken.get(1),
                  best,
                  PostgresBaselines.hasPgbench()
                      ? Optional.of(Goal.ratioAtLeast(1))
                      : Optional.empty())
              .gatewayCpu(minted, best, Optional.empty())
              .postgresCpu(minted, best, Optional.empty());
      double half = minted.rates().median() / 2;
      Turns open =
          turns
              .alternate(
                  "P4 at half load",
                  List.of(new Side("the gateway", time -> load.open(time, half), gateway.cpu())))
              .getFirst();
      return rows.latency(open, Optional.empty(), Optional.empty()).all();
    }
  }

  private List<Row> batches() throws IOException {
    try (Load load = Load.of(requests.batches(), generator)) {
      List<Turns> taken =
          turns.take(
              Measure.P5.name(),
              List.of(
                  new Side("the gateway", load::closed, Requests.BATCH_ROWS, gateway.cpu()),
                  new Side("binary COPY", postgres::copy, CpuClock.unknown())));
      return new Rows(Measure.P5, Measure.P5.what() + ", 4 connections")
          .rate("rows a second", taken.get(0), taken.get(1), Optional.of(Goal.ratioAtLeast(0.7)))
          .gatewayCpu(taken.get(0), taken.get(1), Optional.empty())
          .postgresCpu(taken.get(0), taken.get(1), Optional.empty())
          .all();
    }
  }
}
