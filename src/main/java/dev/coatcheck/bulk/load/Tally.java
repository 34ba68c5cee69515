package dev.coatcheck.bulk.load;

import dev.coatcheck.bulk.rows.RowError;
import dev.coatcheck.bulk.rows.RowSummary;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** Counts the outcomes of the rows of an import. */
final class Tally {
  private final int errorsMax;
  private final List<RowError> errors = new ArrayList<>();
  private long created;
  private long existing;
  private long refused;
  private long linesSettled;

  /** Keeps the first errors and counts the rest. */
  Tally(int errorsMax) {
    this.errorsMax = errorsMax;
  }

  /** A chunk that is committed. */
  void add(Chunk chunk, Plan plan) {
    for (Plan.Count count : plan.counts().values()) {
      created += count.created();
      existing += count.existing();
    }
    refused += chunk.errors().size() + plan.errors().size();
    Stream.concat(chunk.errors().stream(), plan.errors().stream())
        .sorted(Comparator.comparingLong(RowError::line))
        .limit(errorsMax - errors.size())
        .forEach(errors::add);
    linesSettled = chunk.lastLine();
  }

  /** The number of the last line that was settled. */
  long linesSettled() {
    return linesSettled;
  }

  RowSummary summary() {
    return new RowSummary(created, existing, refused, errors);
  }
}
