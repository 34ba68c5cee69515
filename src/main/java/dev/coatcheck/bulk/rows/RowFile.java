package dev.coatcheck.bulk.rows;

import java.io.IOException;
import java.io.InputStream;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A file of rows, read one at a time in bounded memory. Empty lines are passed over. */
public final class RowFile {
  private final Lines lines;
  private final LineReader reader;
  private boolean onRow;

  /** Begins with the line at hand if it is a row, or with the next line. */
  RowFile(Lines lines, LineReader reader, boolean onRow) {
    this.lines = lines;
    this.reader = reader;
    this.onRow = onRow;
  }

  /** A file whose first line was looked at. */
  public sealed interface Opened {
    record Sound(RowFile file) implements Opened {}

    /** It is empty, or its columns are not those that we know. */
    record Refused(String detail) implements Opened {}
  }

  /**
   * Reads the first line.
   *
   * @param needed columns that a header has to name
   * @throws IOException if the stream broke off in it
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
   * Goes to the next row.
   *
   * @return false if there is none
   * @throws IOException if the stream broke off; what was read of the line then is no row
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

  /** Reads the present row; says what is wrong with it, or null. */
  public @Nullable RowFault read(RowText into) {
    if (lines.isTooLong()) {
      return RowFault.LINE_TOO_LONG;
    }
    into.clear();
    return reader.read(lines.bytes(), lines.from(), lines.to(), into);
  }

  /** Where the present row stands, counted from 1. */
  public long line() {
    return lines.number();
  }
}
