package dev.coatcheck.bulk.rows;

import org.jspecify.annotations.Nullable;

/** Reads a line of a format into a row's texts. */
@FunctionalInterface
interface LineReader {
  /** Fills the row, or says why it can't: null if all went well. */
  @Nullable RowFault read(byte[] bytes, int from, int to, RowText into);
}
