package dev.coatcheck.bulk.rows;

import java.io.IOException;
import java.io.InputStream;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A file of rows, read one by one in bounded memory. Empty lines are skipped. */
public final class RowFile {
  private final Lines lines;
  private final LineReader reader;
  private boolean onRow;

  /** Starts with the current line if it is a row, or else with the next line. */
  RowFile(Lines lines, LineReader reader, boolean onRow) {
    this.lines = lines;
    this.reader = reader;
    this.onRow = onRow;
  }

  /** A file whose first line was read. */
  public sealed interface Opened {
    record Sound(RowFile file) implements Opened {}

    /** The file is empty, or its columns are unknown. */
    record Refused(String detail) implements Opened {}
  }

  /**
   * Reads the first line.
   *
   * @param needed columns that a header has to contain
   * @throws IOException if the stream broke off in the line
   */
  public static Opened open(RowFormat format, InputStream stream, Set<Column> needed)
      throws IOException {
    Lines lines = new Lines(stream);
    if (!lines.next()) {
      return new Opened.Refused("The body is empty.");
    }
    return switch (format) {
      case NDJSON -> new Opened.Sound(new RowFile(lines, new NdjsonLineReader(), true));
      case CSV -> CsvHeader.open(lines, needed);
    };
  }

  /**
   * Moves to the next row.
   *
   * @return false if there is none
   * @throws IOException if the stream broke off; the incomplete line doesn't count
   */
  public boolean next() throws IOException {
    while (onRow || lines.next()) {
      onRow = false;
      if (!lines.isEmpty()) {
        return true;
      }
    }
    return false;
  }

  /** Parses the current row; returns its fault, or null. */
  public @Nullable RowFault read(RowText into) {
    if (lines.isTooLong()) {
      return RowFault.LINE_TOO_LONG;
    }
    into.clear();
    return reader.read(lines.bytes(), lines.from(), lines.to(), into);
  }

  /** The line of the current row, counted from 1. */
  public long line() {
    return lines.number();
  }
}
