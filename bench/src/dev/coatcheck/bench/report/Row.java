package dev.coatcheck.bench.report;

import java.util.Optional;

/**
 * A line of the table.
 *
 * @param name which is unique in the table, as "P1" and "P1 p99"
 * @param unit of both figures
 * @param isCost whether less is better
 * @param baseline the figures of the baseline, in the same rounds
 * @param goal empty where there is none, or where the baseline of the goal is not installed
 */
public record Row(
    String name,
    String what,
    String unit,
    boolean isCost,
    Samples measured,
    Optional<Baseline> baseline,
    Optional<Goal> goal) {
  public Row {
    if (goal.isPresent() && goal.get().ofRatio() && baseline.isEmpty()) {
      throw new IllegalArgumentException("a ratio without a baseline: " + name);
    }
  }

  /** What the measure is compared with. */
  public record Baseline(String what, Samples samples) {}

  /** What came of a goal. */
  public enum Verdict {
    MET("met"),
    MISSED("missed"),
    NONE("-");

    private final String word;

    Verdict(String word) {
      this.word = word;
    }

    public String word() {
      return word;
    }
  }

  /** The ratio of the medians; it lies within {@link #ratios}. */
  public Optional<Double> ratio() {
    return baseline.map(base -> measured.median() / base.samples().median());
  }

  /** The ratio of each round. */
  public Optional<Samples> ratios() {
    return baseline.map(base -> measured.over(base.samples()));
  }

  public Verdict verdict() {
    if (goal.isEmpty()) {
      return Verdict.NONE;
    }
    return goal.get().isMetBy(judged()) ? Verdict.MET : Verdict.MISSED;
  }

  /** What the goal is about: the ratio, or the figure itself. */
  double judged() {
    boolean ofRatio = goal.filter(Goal::ofRatio).isPresent();
    return ofRatio ? ratio().orElseThrow() : measured.median();
  }

  /** What is compared between two runs: the ratio, where there is one. */
  Samples compared() {
    return ratios().orElse(measured);
  }

  double comparedMedian() {
    return ratio().orElseGet(measured::median);
  }
}
