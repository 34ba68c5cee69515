package dev.coatcheck.api.routes.transfers;

import dev.coatcheck.bulk.rows.RowFault;
import java.util.List;

/** What became of a file of rows: {@code errors} holds the first refused; {@code refused} all. */
public record ImportView(
    String object,
    long rows,
    long created,
    long existing,
    long refused,
    List<RowErrorView> errors) {
  public ImportView {
    errors = List.copyOf(errors);
  }

  public static ImportView of(
      long created, long existing, long refused, List<RowErrorView> errors) {
    return new ImportView(
        "import", created + existing + refused, created, existing, refused, errors);
  }

  /** A row that was set aside, by its line. */
  public record RowErrorView(long line, String code, String detail) {
    public static RowErrorView of(long line, RowFault fault) {
      return new RowErrorView(line, fault.wireName(), fault.detail());
    }
  }
}
