package dev.coatcheck.core.observe;

import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * What this instance did in the last hour, in memory: a value of each {@link Measure} for each 10
 * s, 4 bytes each.
 */
public final class History implements AutoCloseable {
  static final int POINTS = 360;
  public static final Duration STEP = Duration.ofSeconds(10);

  private final Map<Measure, float[]> values = new EnumMap<>(Measure.class);
  private final Background background;
  private Totals before;
  private long beforeNanos;

  /** How many values each measure has had; the next one goes to this place, modulo the points. */
  private int taken;

  History(Observer observer, long nanos) {
    for (Measure measure : Measure.values()) {
      values.put(measure, new float[POINTS]);
    }
    this.background = new Background("history", observer);
    this.before = observer.totals();
    this.beforeNanos = nanos;
  }

  /** Begins to take values. */
  public static History start(Observer observer) {
    History history = new History(observer, System.nanoTime());
    history.background.every(STEP, () -> history.take(observer.totals(), System.nanoTime()));
    return history;
  }

  synchronized void take(Totals now, long nanos) {
    double seconds = Math.max(1e-3, (nanos - beforeNanos) / 1e9);
    values.forEach(
        (measure, ring) -> ring[taken % POINTS] = (float) measure.between(before, now, seconds));
    taken++;
    before = now;
    beforeNanos = nanos;
  }

  /** The values so far, oldest first; NaN where nothing was measured. */
  public synchronized List<Double> of(Measure measure) {
    float[] ring = values.getOrDefault(measure, new float[0]);
    List<Double> inOrder = new ArrayList<>();
    for (int i = Math.max(0, taken - POINTS); i < taken; i++) {
      inOrder.add((double) ring[i % POINTS]);
    }
    return inOrder;
  }

  /** The sum of a measure's values within the last steps; those that are unknown left out. */
  public double sum(Measure measure, int steps) {
    List<Double> all = of(measure);
    return all.subList(Math.max(0, all.size() - steps), all.size()).stream()
        .filter(value -> !value.isNaN())
        .mapToDouble(value -> value * STEP.toSeconds())
        .sum();
  }

  /** The last value; NaN before the first. */
  public double last(Measure measure) {
    List<Double> all = of(measure);
    return all.isEmpty() ? Double.NaN : all.getLast();
  }

  /** Bytes that the values take. */
  int bytes() {
    return values.values().stream().mapToInt(ring -> ring.length * Float.BYTES).sum();
  }

  @Override
  public void close() {
    background.stop();
  }
}
