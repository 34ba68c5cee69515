package dev.coatcheck.ids.redirect;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;

/** The numbers of one type that one visitor asked for lately. */
final class RequestHistory {
  /** Numbers that are no further apart lie near each other. */
  private static final long GAP_MAX = 16;

  private static final int REMEMBERED_MAX = 128;

  private final long windowNanos;
  private final int numbersMax;
  private final Deque<Step> steps = new ArrayDeque<>();

  private record Step(long number, long nanos) {}

  RequestHistory(long windowNanos, int numbersMax) {
    this.windowNanos = windowNanos;
    this.numbersMax = numbersMax;
  }

  /**
   * Remembers a number; whether more than are allowed now form a stretch or equal steps. Asking
   * again gives the same.
   */
  synchronized boolean leadsOn(long number, long now) {
    while (!steps.isEmpty()
        && (now - steps.getFirst().nanos() >= windowNanos || steps.size() == REMEMBERED_MAX)) {
      steps.removeFirst();
    }
    if (steps.stream().noneMatch(step -> step.number() == number)) {
      steps.addLast(new Step(number, now));
    }
    long[] numbers = steps.stream().mapToLong(Step::number).toArray();
    return equalSteps(numbers) > numbersMax || stretch(numbers, number) > numbersMax;
  }

  /** How many of the latest numbers follow each other at one and the same distance. */
  private static int equalSteps(long[] numbers) {
    int last = numbers.length - 1;
    int first = last;
    while (first > 0
        && numbers[first] - numbers[first - 1] == numbers[last] - numbers[Math.max(last - 1, 0)]) {
      first--;
    }
    return last - first + 1;
  }

  /** How many numbers lie around this one without a wide gap, in whatever order they came. */
  private static int stretch(long[] numbers, long number) {
    long[] sorted = numbers.clone();
    Arrays.sort(sorted);
    int low = Arrays.binarySearch(sorted, number);
    int high = low;
    while (low > 0 && sorted[low] - sorted[low - 1] <= GAP_MAX) {
      low--;
    }
    while (high < sorted.length - 1 && sorted[high + 1] - sorted[high] <= GAP_MAX) {
      high++;
    }
    return high - low + 1;
  }
}
