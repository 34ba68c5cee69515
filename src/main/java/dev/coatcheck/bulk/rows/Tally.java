package dev.coatcheck.bulk.rows;

import java.util.Collection;
import java.util.Comparator;
import java.util.PriorityQueue;

/** Counts the rows of a file. */
public final class Tally {
  private final int errorsMax;

  /** The errors of the first refused lines, the last of them at the head. */
  private final PriorityQueue<RowError> errors =
      new PriorityQueue<>(Comparator.comparingLong(RowError::line).reversed());

  private long created;
  private long existing;
  private long refused;
  private long linesSettled;

  /** Keeps the errors of the first {@code errorsMax} refused lines, and counts the others. */
  public Tally(int errorsMax) {
    this.errorsMax = errorsMax;
  }

  public void add(long createdRows, long existingRows) {
    created += createdRows;
    existing += existingRows;
  }

  public void refuse(Collection<RowError> rows) {
    refused += rows.size();
    errors.addAll(rows);
    while (errors.size() > errorsMax) {
      errors.remove();
    }
  }

  /** All rows up to this line are committed or refused. */
  public void settle(long line) {
    linesSettled = line;
  }

  /** The number of the last settled line. */
  public long linesSettled() {
    return linesSettled;
  }

  public RowSummary summary() {
    return new RowSummary(
        created,
        existing,
        refused,
        errors.stream().sorted(Comparator.comparingLong(RowError::line)).toList());
  }
}
