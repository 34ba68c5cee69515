package dev.coatcheck.api.routes.transfers;

import dev.coatcheck.bulk.rows.RowError;
import dev.coatcheck.bulk.rows.RowSummary;
import java.util.List;

/** The result of an import: {@code refused} counts all errors, {@code errors} lists the first. */
public record ImportView(
    String object,
    long rows,
    long created,
    long existing,
    long refused,
    List<RowErrorView> errors) {

  public static ImportView of(RowSummary summary) {
    return new ImportView(
        "import",
        summary.rows(),
        summary.created(),
        summary.existing(),
        summary.refused(),
        summary.errors().stream().map(RowErrorView::of).toList());
  }

  private record RowErrorView(long line, String code, String detail) {
    static RowErrorView of(RowError error) {
      return new RowErrorView(error.line(), error.fault().wireName(), error.fault().detail());
    }
  }
}
