package dev.coatcheck.bench;

/** What {@link HttpSpeed} measures. Each is a ratio to a baseline of the same run. */
public enum Measure {
  P1("cached redirect", "a second", 0.85),
  P2("cached resolve", "a second", 0.85),
  P3("uncached resolve", "a second", 1.0),
  P4("mint, one per request", "a second", 1.5),
  P5("batch mint of 1,000, 4 connections", "rows a second", 0.6),
  P8("uncached resolve", "ms, p99", 0.5);

  private final String what;
  private final String unit;
  private final double goal;

  Measure(String what, String unit, double goal) {
    this.what = what;
    this.unit = unit;
    this.goal = goal;
  }

  public String what() {
    return what;
  }

  public String unit() {
    return unit;
  }

  /** The ratio to reach, or not to exceed. */
  public double goal() {
    return goal;
  }

  /** Whether it is a time, of which less is better. */
  public boolean isTime() {
    return this == P8;
  }
}
