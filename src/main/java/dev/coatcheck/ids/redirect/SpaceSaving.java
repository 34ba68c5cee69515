package dev.coatcheck.ids.redirect;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The most frequent texts of a stream, counted in bounded memory, as in Metwally, Agrawal and El
 * Abbadi, "Efficient Computation of Frequent and Top-k Elements in Data Streams" (ICDT 2005).
 *
 * <p>With all counters taken, a new text takes over the counter with the least count, and that
 * count is its error. So with {@code m} counters and {@code n} counted texts
 *
 * <ul>
 *   <li>a count is never too low, and too high by its error at most, which is at most {@code n/m};
 *   <li>a text without a counter came {@link #missed} times at most, also at most {@code n/m};
 *   <li>each text that came more than {@code n/m} times has a counter.
 * </ul>
 *
 * <p>All sketches share a number of counters. Where none is left, a sketch makes do with those that
 * it has, and its errors grow; they are still told. A sketch that others were added to, or that had
 * no counter at all for a while, may also have counts that are too low, by {@link #missed} at most.
 *
 * <p>Not thread-safe.
 */
final class SpaceSaving {
  private final int countersMax;
  private final Budget budget;
  private final Map<String, Counter> byText = new HashMap<>();

  /** A binary heap with the least count first. */
  private final List<Counter> heap = new ArrayList<>();

  private long total;
  private boolean isFull;
  private long dropped;

  /** The counters that all sketches may still take. */
  static final class Budget {
    private int left;

    Budget(int counters) {
      this.left = counters;
    }

    private boolean take() {
      boolean isLeft = left > 0;
      left -= isLeft ? 1 : 0;
      return isLeft;
    }

    int left() {
      return left;
    }
  }

  private static final class Counter {
    private String text;
    private int at;
    private long count;
    private long error;

    Counter(String text, int at) {
      this.text = text;
      this.at = at;
    }
  }

  /** How often a text came, and by how much that may be too high. */
  record Count(String text, long count, long error) {}

  SpaceSaving(int countersMax, Budget budget) {
    this.countersMax = countersMax;
    this.budget = budget;
  }

  void add(String text, long times) {
    total += times;
    add(text, times, 0);
  }

  /** Adds what another sketch has counted, whose errors add up with those of this one. */
  void addAll(SpaceSaving other) {
    total += other.total;
    dropped += other.missed();
    other.heap.forEach(counter -> add(counter.text, counter.count, counter.error));
  }

  /** Gives its counters back; of no use afterwards. */
  void free() {
    budget.left += heap.size();
    heap.clear();
    byText.clear();
  }

  List<Count> counts() {
    return heap.stream()
        .map(counter -> new Count(counter.text, counter.count, counter.error))
        .toList();
  }

  /** How many texts were counted. */
  long total() {
    return total;
  }

  /** How often a text came at most that has no counter. */
  long missed() {
    return dropped + (isFull && !heap.isEmpty() ? heap.getFirst().count : 0);
  }

  private void add(String text, long times, long error) {
    Counter counter = byText.get(text);
    if (counter == null) {
      if (heap.size() < countersMax && budget.take()) {
        counter = new Counter(text, heap.size());
        heap.add(counter);
        siftUp(counter);
      } else if (heap.isEmpty()) {
        dropped += times;
        return;
      } else {
        isFull = true;
        counter = heap.getFirst();
        byText.remove(counter.text);
        counter.text = text;
        counter.error = counter.count;
      }
      byText.put(text, counter);
    }
    counter.count += times;
    counter.error += error;
    siftDown(counter);
  }

  private void siftUp(Counter counter) {
    while (counter.at > 0 && counter.count < heap.get((counter.at - 1) / 2).count) {
      swap(counter.at, (counter.at - 1) / 2);
    }
  }

  private void siftDown(Counter counter) {
    while (true) {
      int least = counter.at;
      for (int child = 2 * counter.at + 1; child <= 2 * counter.at + 2; child++) {
        if (child < heap.size() && heap.get(child).count < heap.get(least).count) {
          least = child;
        }
      }
      if (least == counter.at) {
        return;
      }
      swap(counter.at, least);
    }
  }

  private void swap(int one, int other) {
    Collections.swap(heap, one, other);
    heap.get(one).at = one;
    heap.get(other).at = other;
  }
}
