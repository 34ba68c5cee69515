package dev.coatcheck.bulk.rows;

import java.util.List;

/**
 * How many rows of a file were imported.
 *
 * @param existing rows that already exist and agree
 * @param errors the first refused rows
 */
public record RowSummary(long created, long existing, long refused, List<RowError> errors) {
  public RowSummary {
    errors = List.copyOf(errors);
  }

  public long rows() {
    return created + existing + refused;
  }
}
