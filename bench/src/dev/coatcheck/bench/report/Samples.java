package dev.coatcheck.bench.report;

import java.util.Arrays;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;

/** A figure of each round of a run, in the order of the rounds. */
public record Samples(List<Double> values) {
  public Samples {
    if (values.isEmpty() || values.stream().anyMatch(value -> !Double.isFinite(value))) {
      throw new IllegalArgumentException("no figures: " + values);
    }
    values = List.copyOf(values);
  }

  public static Samples of(double... values) {
    return new Samples(Arrays.stream(values).boxed().toList());
  }

  /** Of an even number of figures the mean of the two in the middle. */
  public double median() {
    List<Double> sorted = values.stream().sorted().toList();
    int middle = sorted.size() / 2;
    return sorted.size() % 2 == 1
        ? sorted.get(middle)
        : (sorted.get(middle - 1) + sorted.get(middle)) / 2;
  }

  public double min() {
    return values.stream().mapToDouble(value -> value).min().orElseThrow();
  }

  public double max() {
    return values.stream().mapToDouble(value -> value).max().orElseThrow();
  }

  /** Each figure in another unit. */
  public Samples map(UnaryOperator<Double> to) {
    return new Samples(values.stream().map(to).toList());
  }

  /** Each figure over that of the same round of the baseline: what disturbed both falls out. */
  public Samples over(Samples baseline) {
    if (values.size() != baseline.values.size()) {
      throw new IllegalArgumentException(
          values.size() + " rounds against " + baseline.values.size());
    }
    return new Samples(
        IntStream.range(0, values.size())
            .mapToObj(round -> values.get(round) / baseline.values.get(round))
            .toList());
  }

  /** Whether the figures of both lie apart, so that their difference is no noise. */
  public boolean isApartFrom(Samples other) {
    return max() < other.min() || min() > other.max();
  }
}
