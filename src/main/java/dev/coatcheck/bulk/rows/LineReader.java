package dev.coatcheck.bulk.rows;

import org.jspecify.annotations.Nullable;

/** Parses a line of a format into the texts of a row. */
@FunctionalInterface
interface LineReader {
  /** Fills the row; returns null, or the fault of the line. */
  @Nullable RowFault read(byte[] bytes, int from, int to, RowText into);
}
