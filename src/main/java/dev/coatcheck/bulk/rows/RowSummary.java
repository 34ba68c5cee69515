package dev.coatcheck.bulk.rows;

import java.util.List;

/**
 * How many rows of a file went in.
 *
 * @param existing rows that were there already and are not contradicted
 * @param refused rows that were set aside
 * @param errors the first of the refused rows
 */
public record RowSummary(long created, long existing, long refused, List<RowError> errors) {
  public RowSummary {
    errors = List.copyOf(errors);
  }

  public long rows() {
    return created + existing + refused;
  }
}
