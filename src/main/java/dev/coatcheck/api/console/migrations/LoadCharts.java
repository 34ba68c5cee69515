package dev.coatcheck.api.console.migrations;

import dev.coatcheck.api.console.page.Chart;
import dev.coatcheck.migrate.run.LoadSample;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.function.BiFunction;

/** The pace of a backfill and the load of its source, as lines over time. */
final class LoadCharts {
  private static final double MEGABYTE = 1024.0 * 1024;

  /** Longer gaps are pauses of the run, or its way to another instance. */
  private static final Duration GAP = Duration.ofSeconds(15);

  /** From one sample to the next. */
  private static final Duration STEP = Duration.ofSeconds(5);

  private static final int GAP_POINTS_MAX = 720;

  private static final Duration LATELY = Duration.ofMinutes(2);
  private static final Duration LATELY_MIN = Duration.ofSeconds(30);
  private static final int WAITS_MAX = 20;

  private LoadCharts() {}

  /**
   * @param isRunning whether the last sample is of now
   */
  static List<Chart> of(List<LoadSample> load, boolean isRunning) {
    if (load.size() < 2) {
      return List.of();
    }
    Instant last = load.getLast().at();
    Duration span = Duration.between(load.getFirst().at(), last);
    Optional<Instant> end = isRunning ? Optional.empty() : Optional.of(last);
    return List.of(
        new Chart(
            "Rows a second",
            line(
                load,
                growth((a, b) -> Optional.of((double) Math.max(0, b.rowsDone() - a.rowsDone())))),
            span,
            end),
        new Chart(
            "Replica lag, s",
            line(load, (_, b) -> b.replicaLagSeconds().map(Long::doubleValue)),
            span,
            end),
        new Chart(
            "WAL, MB a second",
            line(
                load,
                growth(
                    (a, b) ->
                        a.walBytes()
                            .flatMap(
                                from ->
                                    b.walBytes().map(to -> Math.max(0, to - from) / MEGABYTE)))),
            span,
            end));
  }

  /** What is known of two samples, one after the other. */
  @FunctionalInterface
  private interface Value extends BiFunction<LoadSample, LoadSample, Optional<Double>> {}

  /** The values of all samples but the first; a gap is as wide as it was long, up to an hour. */
  private static List<Double> line(List<LoadSample> load, Value value) {
    List<Double> line = new ArrayList<>();
    for (int i = 1; i < load.size(); i++) {
      LoadSample before = load.get(i - 1);
      Duration between = Duration.between(before.at(), load.get(i).at());
      if (between.compareTo(GAP) > 0) {
        long missed = Math.min(between.dividedBy(STEP) - 1, GAP_POINTS_MAX);
        line.addAll(Collections.nCopies((int) missed, Double.NaN));
      }
      line.add(value.apply(before, load.get(i)).orElse(Double.NaN));
    }
    return line;
  }

  /** The growth a second from each sample to the next one; unknown over gaps. */
  private static Value growth(Value grown) {
    return (before, after) -> {
      Duration between = Duration.between(before.at(), after.at());
      return between.compareTo(GAP) > 0 || between.toMillis() == 0
          ? Optional.empty()
          : grown.apply(before, after).map(amount -> amount * 1_000 / between.toMillis());
    };
  }

  /** Of the last two minutes, back to a gap at most; empty in the first half minute. */
  static OptionalDouble rowsPerSecond(List<LoadSample> load) {
    if (load.isEmpty()) {
      return OptionalDouble.empty();
    }
    LoadSample last = load.getLast();
    LoadSample first = last;
    for (LoadSample sample : load.reversed()) {
      if (Duration.between(sample.at(), first.at()).compareTo(GAP) > 0
          || Duration.between(sample.at(), last.at()).compareTo(LATELY) > 0) {
        break;
      }
      first = sample;
    }
    Duration between = Duration.between(first.at(), last.at());
    return between.compareTo(LATELY_MIN) < 0
        ? OptionalDouble.empty()
        : OptionalDouble.of(
            Math.max(0, last.rowsDone() - first.rowsDone()) * 1_000.0 / between.toMillis());
  }

  /** Why the run waited, newest first; the same reason with other figures counts as one. */
  static List<RunView.Wait> waits(List<LoadSample> load) {
    List<RunView.Wait> waits = new ArrayList<>();
    Optional<String> last = Optional.empty();
    Instant before = Instant.MIN;
    for (LoadSample sample : load) {
      Optional<String> kind = sample.reason().map(why -> why.replaceAll("[0-9]+", "0"));
      if (kind.isPresent()) {
        boolean isSame = kind.equals(last) && before.plus(GAP).isAfter(sample.at());
        Instant since = isSame ? waits.removeFirst().since() : sample.at();
        waits.addFirst(new RunView.Wait(sample.reason().get(), since, sample.at()));
      }
      last = kind;
      before = sample.at();
    }
    return waits.subList(0, Math.min(WAITS_MAX, waits.size()));
  }
}
