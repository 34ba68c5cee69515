package dev.coatcheck.bench.speed;

import dev.coatcheck.bench.report.Goal;
import dev.coatcheck.bench.report.Row;
import dev.coatcheck.bench.report.Samples;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Collects the rows of one measure. */
final class Rows {
  private static final String MICROS = "µs CPU";
  private final List<Row> rows = new ArrayList<>();
  private final Measure measure;
  private final String what;

  Rows(Measure measure, String what) {
    this.measure = measure;
    this.what = what;
  }

  /** Of the measure. */
  String name() {
    return measure.name();
  }

  List<Row> all() {
    return List.copyOf(rows);
  }

  /** How many a second. */
  Rows rate(String unit, Turns measured, Turns baseline, Optional<Goal> goal) {
    return add("", what, unit, false, measured.rates(), base(baseline, baseline.rates()), goal);
  }

  /** How many a second, under another name. */
  Rows rate(
      String suffix, String note, String unit, Turns measured, Turns base, Optional<Goal> goal) {
    return add(suffix, what + note, unit, false, measured.rates(), base(base, base.rates()), goal);
  }

  /** The time of each: a ratio of 2 is twice the time. */
  Rows each(String suffix, String note, Turns measured, Turns base, Optional<Goal> goal) {
    Samples times = measured.rates().map(Rows::microsEach);
    Samples baseline = base.rates().map(Rows::microsEach);
    return add(suffix, what + note, "µs each", true, times, base(base, baseline), goal);
  }

  private static double microsEach(double perSecond) {
    return 1_000_000 / perSecond;
  }

  /** How many a second, without a baseline. */
  Rows figure(String suffix, String note, String unit, Turns measured, Optional<Goal> goal) {
    return add(suffix, what + note, unit, false, measured.rates(), Optional.empty(), goal);
  }

  /** CPU of the gateway, against that of a baseline's server where it has one. */
  Rows gatewayCpu(Turns measured, Turns baseline, Optional<Goal> goal) {
    Optional<Row.Baseline> base =
        baseline.serverMicros().flatMap(samples -> base(baseline, samples));
    measured
        .serverMicros()
        .ifPresent(cpu -> add(" CPU", "gateway, each", MICROS, true, cpu, base, goal));
    return this;
  }

  /** CPU of Postgres for the same request. */
  Rows postgresCpu(Turns measured, Turns baseline, Optional<Goal> goal) {
    Optional<Row.Baseline> base =
        baseline.postgresMicros().flatMap(samples -> base(baseline, samples));
    measured
        .postgresMicros()
        .ifPresent(cpu -> add(" CPU Postgres", "Postgres, each", MICROS, true, cpu, base, goal));
    return this;
  }

  /** p50 and p99 of an open loop at half of the capacity. */
  Rows latency(Turns measured, Optional<Turns> baseline, Optional<Goal> goalOfP99) {
    add(
        " p50",
        what + ", p50 at half load",
        "ms",
        true,
        measured.p50Millis(),
        baseline.flatMap(base -> base(base, base.p50Millis())),
        Optional.empty());
    return add(
        measure == Measure.P8 ? "" : " p99",
        what + ", p99 at half load",
        "ms",
        true,
        measured.p99Millis(),
        baseline.flatMap(base -> base(base, base.p99Millis())),
        goalOfP99);
  }

  private static Optional<Row.Baseline> base(Turns turns, Samples samples) {
    return samples.min() > 0
        ? Optional.of(new Row.Baseline(turns.side().what(), samples))
        : Optional.empty();
  }

  private Rows add(
      String suffix,
      String text,
      String unit,
      boolean isCost,
      Samples measured,
      Optional<Row.Baseline> baseline,
      Optional<Goal> goal) {
    Optional<Goal> judged = goal.filter(one -> !one.ofRatio() || baseline.isPresent());
    rows.add(new Row(measure + suffix, text, unit, isCost, measured, baseline, judged));
    return this;
  }
}
