package dev.coatcheck.bulk.rows;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * CSV as in RFC 4180, with one restriction: a quoted field ends on its line. No value of ours
 * contains a line break. So a line is a row, and an unclosed quote costs one row, not the rest of
 * the file.
 */
final class CsvLineReader implements LineReader {
  private final List<Column> columns;

  /** The columns in the order of the header. */
  CsvLineReader(List<Column> columns) {
    this.columns = List.copyOf(columns);
  }

  @Override
  public @Nullable RowFault read(byte[] bytes, int from, int to, RowText into) {
    int at = from;
    for (int i = 0; i < columns.size(); i++) {
      int end = fieldEnd(bytes, at, to);
      boolean last = i == columns.size() - 1;
      if (end < 0 || last != (end == to)) {
        return RowFault.ROW_MALFORMED;
      }
      into.set(columns.get(i), text(bytes, at, end));
      at = end + 1;
    }
    return null;
  }

  /** The fields of a line; empty if its quotes are wrong. */
  static Optional<List<String>> split(byte[] bytes, int from, int to) {
    List<String> fields = new ArrayList<>();
    int at = from;
    while (true) {
      int end = fieldEnd(bytes, at, to);
      if (end < 0) {
        return Optional.empty();
      }
      fields.add(text(bytes, at, end));
      if (end == to) {
        return Optional.of(fields);
      }
      at = end + 1;
    }
  }

  /**
   * The index of the comma after the field, or of the end of the line; -1 if the quotes are wrong.
   */
  private static int fieldEnd(byte[] bytes, int from, int to) {
    if (from < to && bytes[from] == '"') {
      return quotedEnd(bytes, from, to);
    }
    for (int i = from; i < to; i++) {
      if (bytes[i] == ',') {
        return i;
      }
      if (bytes[i] == '"') {
        return -1;
      }
    }
    return to;
  }

  private static int quotedEnd(byte[] bytes, int from, int to) {
    int at = from + 1;
    while (at < to) {
      if (bytes[at] != '"') {
        at++;
      } else if (at + 1 == to || bytes[at + 1] == ',') {
        return at + 1;
      } else if (bytes[at + 1] == '"') {
        at += 2;
      } else {
        return -1;
      }
    }
    return -1;
  }

  /**
   * Only principals contain other characters than ASCII. Invalid UTF-8 matches no existing
   * principal.
   */
  private static String text(byte[] bytes, int from, int end) {
    return from < end && bytes[from] == '"'
        ? new String(bytes, from + 1, end - from - 2, StandardCharsets.UTF_8).replace("\"\"", "\"")
        : new String(bytes, from, end - from, StandardCharsets.UTF_8);
  }
}
