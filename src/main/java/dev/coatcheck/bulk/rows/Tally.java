package dev.coatcheck.bulk.rows;

import java.util.Collection;
import java.util.Comparator;
import java.util.PriorityQueue;

/** Counts the rows of a file. */
public final class Tally {
  private final int errorsMax;

  /** The first lines that were refused, the last of them at the head. */
  private final PriorityQueue<RowError> errors =
      new PriorityQueue<>(Comparator.comparingLong(RowError::line).reversed());

  private long created;
  private long existing;
  private long refused;
  private long linesSettled;

  /** Keeps that many errors, those of the first lines, and counts the rest. */
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

  /** All up to a line is committed or refused. */
  public void settle(long line) {
    linesSettled = line;
  }

  /** The number of the last line that was settled. */
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
