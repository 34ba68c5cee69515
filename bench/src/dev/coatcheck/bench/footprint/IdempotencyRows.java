package dev.coatcheck.bench.footprint;

import dev.coatcheck.app.boot.Config;
import dev.coatcheck.app.boot.OpenDatabase;
import dev.coatcheck.app.boot.StartFailed;
import dev.coatcheck.bench.report.Goal;
import dev.coatcheck.bench.report.Row;
import dev.coatcheck.bench.report.Samples;
import dev.coatcheck.bench.speed.Measure;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.ids.idempotency.IdempotencyGrowth;
import java.util.List;
import java.util.Optional;

/** P20: how many answers are kept for those that must be, and who waits when a part ends. */
public final class IdempotencyRows {
  private static final int DAYS = 3;
  private static final int ROWS_A_STEP = 1_000;
  private static final int SESSIONS = 4;

  private IdempotencyRows() {}

  /** Measures on the embedded Postgres of the configuration, which must be new. */
  public static List<Row> measure(Config config) throws StartFailed {
    Observer observer = new Observer();
    try (OpenDatabase opened = OpenDatabase.open(config, observer)) {
      IdempotencyGrowth.Result result =
          IdempotencyGrowth.measure(opened.database(), observer, DAYS, ROWS_A_STEP, SESSIONS);
      return List.of(
          row(
              "",
              ", against the last 24 hours",
              "times",
              result.keptRatioMax(),
              Optional.empty(),
              1.17),
          row(
              " wait",
              ", a call when a part ends",
              "ms",
              result.longestMillis(),
              Optional.of(
                  new Row.Baseline("other calls", Samples.of(result.longestBesideMillis()))),
              50));
    }
  }

  private static Row row(
      String suffix,
      String note,
      String unit,
      double figure,
      Optional<Row.Baseline> baseline,
      double most) {
    return new Row(
        Measure.P20 + suffix,
        Measure.P20.what() + note,
        unit,
        true,
        Samples.of(figure),
        baseline,
        Optional.of(Goal.atMost(most)));
  }
}
