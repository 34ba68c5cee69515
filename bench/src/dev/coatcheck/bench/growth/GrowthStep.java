package dev.coatcheck.bench.growth;

/**
 * What was measured at a number of mappings.
 *
 * @param rows mappings that were minted by then
 * @param bytes of the tables of mappings, with their indexes
 * @param mint of single mints, one after the other
 * @param resolve of single resolves of random ones, nothing cached
 */
public record GrowthStep(Storage storage, long rows, long bytes, Latency mint, Latency resolve) {
  /** In microseconds. */
  public record Latency(double p50, double p99) {}

  public double bytesPerMapping() {
    return (double) bytes / rows;
  }
}
