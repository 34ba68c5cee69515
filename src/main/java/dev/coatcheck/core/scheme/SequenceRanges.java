package dev.coatcheck.core.scheme;

import java.util.ArrayList;
import java.util.List;

/**
 * The sequence numbers of a partition, shared out among its writers. Two writers that share a
 * number would make the same IDs, so ranges that overlap are refused.
 */
public final class SequenceRanges {
  /** A range of fewer numbers would wait at nearly every ID. */
  static final int SIZE_MIN = 4;

  private final List<Range> taken = new ArrayList<>();

  /** Both ends are inclusive. */
  public record Range(int first, int last) {
    /** All numbers: a partition with one writer. */
    public static final Range ALL = new Range(0, SnoId.SEQUENCE_MAX);

    public Range {
      if (first < 0 || last > SnoId.SEQUENCE_MAX || last - first + 1 < SIZE_MIN) {
        throw new IllegalArgumentException(
            "a range of sequence numbers lies within 0..%d and has %d at least, not %d-%d"
                .formatted(SnoId.SEQUENCE_MAX, SIZE_MIN, first, last));
      }
    }

    private boolean overlaps(Range other) {
      return first <= other.last && other.first <= last;
    }

    @Override
    public String toString() {
      return first + "-" + last;
    }
  }

  /**
   * Takes a range.
   *
   * @throws IllegalArgumentException if it has a number that another range has
   */
  public synchronized Range take(int first, int last) {
    Range wanted = new Range(first, last);
    taken.stream()
        .filter(wanted::overlaps)
        .findFirst()
        .ifPresent(
            other -> {
              throw new IllegalArgumentException(
                  "the range " + wanted + " overlaps the range " + other);
            });
    taken.add(wanted);
    return wanted;
  }
}
