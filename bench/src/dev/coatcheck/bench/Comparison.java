package dev.coatcheck.bench;

/**
 * A measure beside its baseline, both in the unit of the measure: medians of the rounds.
 *
 * @param against what the baseline is
 */
public record Comparison(Measure measure, double measured, String against, double baseline) {
  public double ratio() {
    return measured / baseline;
  }

  public boolean isMet() {
    return measure.isTime() ? ratio() <= measure.goal() : ratio() >= measure.goal();
  }
}
