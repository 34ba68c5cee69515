package dev.coatcheck.bench.growth;

import java.util.List;
import java.util.Locale;

/** The steps as a table in Markdown, and the measures that they answer. */
public final class GrowthText {
  private static final double BYTES_MAX = 165;
  private static final double SLOWER_MAX = 1.3;

  private GrowthText() {}

  public static String of(List<GrowthStep> steps) {
    StringBuilder text =
        new StringBuilder(
            """
            | mappings | | bytes each | mint p50, p99 (µs) | resolve p50, p99 (µs) |
            |---:|---|---:|---:|---:|
            """);
    for (GrowthStep step : steps) {
      text.append(
          String.format(
              Locale.ROOT,
              "| %,d | %s | %.1f | %.1f, %.1f | %.1f, %.1f |%n",
              step.rows(),
              step.storage().words(),
              step.storage() == Storage.SEALED ? 0 : step.bytesPerMapping(),
              step.mint().p50(),
              step.mint().p99(),
              step.resolve().p50(),
              step.resolve().p99()));
    }
    List<GrowthStep> stored =
        steps.stream().filter(step -> step.storage() == Storage.STORED).toList();
    if (stored.size() > 1) {
      GrowthStep least = stored.getFirst();
      GrowthStep most = stored.getLast();
      text.append(
          String.format(
              Locale.ROOT,
              "%nP14: %.1f bytes (goal ≤ %.0f). P15: resolve p50 at %,d is %.2f of that at %,d"
                  + " (goal ≤ %.1f).%n",
              most.bytesPerMapping(),
              BYTES_MAX,
              most.rows(),
              most.resolve().p50() / least.resolve().p50(),
              least.rows(),
              SLOWER_MAX));
    }
    return text.toString();
  }
}
