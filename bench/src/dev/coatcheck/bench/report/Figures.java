package dev.coatcheck.bench.report;

import java.util.Locale;

/** Numbers as people read them. */
final class Figures {
  private static final double LARGE = 1_000;
  private static final double MIDDLE = 10;

  private Figures() {}

  /** To three digits and more. */
  static String figure(double value) {
    if (value >= LARGE) {
      return String.format(Locale.ROOT, "%,.0f", value);
    }
    return String.format(Locale.ROOT, value >= MIDDLE ? "%.1f" : "%.2f", value);
  }

  static String ratio(double value) {
    return String.format(Locale.ROOT, "%.2f", value);
  }

  static String spread(Samples samples) {
    return figure(samples.min()) + "-" + figure(samples.max());
  }
}
