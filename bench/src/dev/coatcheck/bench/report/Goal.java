package dev.coatcheck.bench.report;

/**
 * What a row has to reach.
 *
 * @param ofRatio whether the bound is one of the ratio to the baseline, or of the figure itself
 */
public record Goal(boolean ofRatio, Sense sense, double bound) {
  /** On which side of the bound the goal lies. */
  public enum Sense {
    AT_LEAST(">="),
    AT_MOST("<=");

    private final String sign;

    Sense(String sign) {
      this.sign = sign;
    }
  }

  public static Goal ratioAtLeast(double bound) {
    return new Goal(true, Sense.AT_LEAST, bound);
  }

  public static Goal ratioAtMost(double bound) {
    return new Goal(true, Sense.AT_MOST, bound);
  }

  public static Goal atLeast(double bound) {
    return new Goal(false, Sense.AT_LEAST, bound);
  }

  public static Goal atMost(double bound) {
    return new Goal(false, Sense.AT_MOST, bound);
  }

  boolean isMetBy(double value) {
    return sense == Sense.AT_LEAST ? value >= bound : value <= bound;
  }

  /** 1 at the bound and more beyond, whichever side that is. */
  double reachedBy(double value) {
    return sense == Sense.AT_LEAST ? value / bound : bound / value;
  }

  @Override
  public String toString() {
    return sense.sign + " " + Figures.ratio(bound);
  }
}
