package dev.coatcheck.ids.redirect;

import java.util.Arrays;

/**
 * The numbers that one visitor asked for within the last minute, and its misses. It has room for
 * all that a visitor may ask for, so it never drops a number within its minute.
 *
 * <p>Not thread-safe: the guard has a lock.
 */
final class RequestHistory {
  /** Numbers at most this far apart are neighbours. */
  private static final long GAP_MAX = 16;

  /** Two longs for each step: the number; its type and the time. */
  private static final int STEP_LONGS = 2;

  private static final int SMALL = 2 * STEP_LONGS;

  private static final int TIME_BITS = 40;
  private static final long TIME_MASK = (1L << TIME_BITS) - 1;

  /** No type has this number. */
  private static final int MISS = 0;

  private static final long[] NONE = {};

  private final Memory memory;

  /** The oldest step first. */
  private long[] steps = NONE;

  private int length;

  /** Numbers and misses that there was no memory for. Any of them may connect the others. */
  private int unremembered;

  private long lastUnremembered;
  private long unrememberedMillis;
  private long seenMillis;

  /** The memory that the steps of all visitors share. */
  static final class Memory {
    private int longsLeft;

    Memory(int steps) {
      this.longsLeft = steps * STEP_LONGS;
    }

    private boolean take(int longs) {
      if (longs > longsLeft) {
        return false;
      }
      longsLeft -= longs;
      return true;
    }
  }

  RequestHistory(Memory memory) {
    this.memory = memory;
  }

  /** Remembers a number. Returns whether that is too many. A repeated number changes nothing. */
  boolean asked(int typeNumber, long number, long nowMillis) {
    forget(nowMillis);
    int misses = count(MISS);
    if (length / STEP_LONGS - misses > ScanGuard.ALTOGETHER_MAX) {
      return true;
    }
    if (!holds(typeNumber, number)) {
      add(typeNumber, number, nowMillis);
    }
    int altogether = length / STEP_LONGS - misses + unremembered;
    return altogether > ScanGuard.ALTOGETHER_MAX
        || (altogether > ScanGuard.NUMBERS_MAX
            && (unremembered > 0 || leadsOn(numbers(typeNumber), number)));
  }

  /** Remembers a miss. Returns whether that is too many. */
  boolean missed(long nowMillis) {
    forget(nowMillis);
    if (count(MISS) <= ScanGuard.MISSES_MAX) {
      add(MISS, 0, nowMillis);
    }
    return count(MISS) + unremembered > ScanGuard.MISSES_MAX;
  }

  /** Whether everything in it has expired. */
  boolean isOver(long nowMillis) {
    return nowMillis - seenMillis >= ScanGuard.WINDOW_MILLIS;
  }

  /** Gives its memory back. */
  void clear() {
    resize(0);
    length = 0;
    unremembered = 0;
  }

  /** Drops what has expired, and returns memory that is no longer needed. */
  private void forget(long nowMillis) {
    seenMillis = nowMillis;
    if (nowMillis - unrememberedMillis >= ScanGuard.WINDOW_MILLIS) {
      unremembered = 0;
    }
    int dropped = 0;
    while (dropped < length && nowMillis - millis(dropped) >= ScanGuard.WINDOW_MILLIS) {
      dropped += STEP_LONGS;
    }
    if (dropped > 0) {
      length -= dropped;
      System.arraycopy(steps, dropped, steps, 0, length);
      if (steps.length > SMALL && length <= steps.length / 4) {
        resize(steps.length / 2);
      }
    }
  }

  private void add(int typeNumber, long number, long nowMillis) {
    boolean fits =
        length < steps.length || resize(Math.max(SMALL, 2 * length)) || resize(length + STEP_LONGS);
    if (fits) {
      steps[length] = number;
      steps[length + 1] = (long) typeNumber << TIME_BITS | (nowMillis & TIME_MASK);
      length += STEP_LONGS;
    } else if (unremembered == 0 || number != lastUnremembered || typeNumber == MISS) {
      unremembered++;
      unrememberedMillis = nowMillis;
      lastUnremembered = number;
    }
  }

  private boolean resize(int longs) {
    if (!memory.take(longs - steps.length)) {
      return false;
    }
    steps = Arrays.copyOf(steps, longs);
    return true;
  }

  private int count(int typeNumber) {
    int count = 0;
    for (int at = 0; at < length; at += STEP_LONGS) {
      count += typeNumber(at) == typeNumber ? 1 : 0;
    }
    return count;
  }

  private boolean holds(int typeNumber, long number) {
    for (int at = 0; at < length; at += STEP_LONGS) {
      if (steps[at] == number && typeNumber(at) == typeNumber) {
        return true;
      }
    }
    return false;
  }

  /** The numbers of a type, in the order in which they came. */
  private long[] numbers(int typeNumber) {
    long[] numbers = new long[count(typeNumber)];
    int count = 0;
    for (int at = 0; at < length; at += STEP_LONGS) {
      if (typeNumber(at) == typeNumber) {
        numbers[count++] = steps[at];
      }
    }
    return numbers;
  }

  private int typeNumber(int at) {
    return (int) (steps[at + 1] >>> TIME_BITS);
  }

  private long millis(int at) {
    return steps[at + 1] & TIME_MASK;
  }

  private static boolean leadsOn(long[] numbers, long number) {
    return equalSteps(numbers) > ScanGuard.NUMBERS_MAX
        || stretch(numbers, number) > ScanGuard.NUMBERS_MAX;
  }

  /** How many of the latest numbers are equally spaced. */
  private static int equalSteps(long[] numbers) {
    int last = numbers.length - 1;
    int first = last;
    while (first > 0
        && numbers[first] - numbers[first - 1] == numbers[last] - numbers[Math.max(last - 1, 0)]) {
      first--;
    }
    return last - first + 1;
  }

  /**
   * The size of the cluster around a number, which no gap above the limit divides, in any order of
   * arrival.
   */
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
