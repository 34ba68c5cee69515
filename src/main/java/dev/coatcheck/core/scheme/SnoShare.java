package dev.coatcheck.core.scheme;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The share of one writer of snos: some sequence numbers of a partition, in every tick. */
public record SnoShare(int partition, SequenceRange sequences) {
  private static final Pattern START =
      Pattern.compile(
          "partition=(?<partition>[0-9]{1,5}) sequences=(?<first>[0-9]{1,5})-(?<last>[0-9]{1,5})"
              + " .*",
          Pattern.DOTALL);

  public SnoShare {
    if (partition < 0 || partition > SnoId.PARTITION_MAX) {
      throw new IllegalArgumentException(
          "partition %d is not within 0..%d".formatted(partition, SnoId.PARTITION_MAX));
    }
  }

  /** Parses the beginning of a state of either kind. No other text begins like that. */
  public static Optional<SnoShare> startOf(String state) {
    Matcher parts = START.matcher(state);
    if (!parts.matches()) {
      return Optional.empty();
    }
    try {
      return Optional.of(
          new SnoShare(
              Integer.parseInt(parts.group("partition")),
              new SequenceRange(
                  Integer.parseInt(parts.group("first")), Integer.parseInt(parts.group("last")))));
    } catch (IllegalArgumentException outOfRange) {
      return Optional.empty();
    }
  }

  /** Whether writers with these shares could generate the same sno. */
  public boolean overlaps(SnoShare other) {
    return partition == other.partition && sequences.overlaps(other.sequences);
  }

  @Override
  public String toString() {
    return "partition=%d sequences=%s".formatted(partition, sequences);
  }
}
