package dev.coatcheck.core.scheme;

/**
 * The sequence numbers of one writer of a partition, both ends inclusive. Two writers that share a
 * number would generate the same IDs.
 */
public record SequenceRange(int first, int last) {
  /** All numbers, for a partition with one writer. */
  public static final SequenceRange ALL = new SequenceRange(0, SnoId.SEQUENCE_MAX);

  /** With fewer numbers a generator would wait at nearly every ID. */
  private static final int SIZE_MIN = 4;

  public SequenceRange {
    if (first < 0 || last > SnoId.SEQUENCE_MAX || last - first + 1 < SIZE_MIN) {
      throw new IllegalArgumentException(
          "a range of sequence numbers lies within 0..%d and has %d at least, not %d-%d"
              .formatted(SnoId.SEQUENCE_MAX, SIZE_MIN, first, last));
    }
  }

  int size() {
    return last - first + 1;
  }

  boolean overlaps(SequenceRange other) {
    return first <= other.last && other.first <= last;
  }

  @Override
  public String toString() {
    return first + "-" + last;
  }
}
