package dev.coatcheck.bulk.load;

import dev.coatcheck.bulk.rows.RowError;
import dev.coatcheck.bulk.rows.RowFault;
import dev.coatcheck.core.key.KeyGenerator;
import java.util.ArrayList;
import java.util.List;

/** Some lines of a file that are settled in one transaction. */
final class Chunk {
  /** As many keys as one draw gives. Such a chunk takes Postgres about a tenth of a second. */
  static final int LINES_MAX = KeyGenerator.COUNT_MAX;

  private final List<ImportRow> rows = new ArrayList<>();
  private final List<RowError> errors = new ArrayList<>();
  private long lastLine;

  void add(ImportRow row) {
    rows.add(row);
    lastLine = row.line();
  }

  void refuse(long line, RowFault fault) {
    errors.add(new RowError(line, fault));
    lastLine = line;
  }

  List<ImportRow> rows() {
    return rows;
  }

  /** Those that were refused when they were read. */
  List<RowError> errors() {
    return errors;
  }

  long lastLine() {
    return lastLine;
  }

  int size() {
    return rows.size() + errors.size();
  }

  boolean isFull() {
    return size() == LINES_MAX;
  }
}
