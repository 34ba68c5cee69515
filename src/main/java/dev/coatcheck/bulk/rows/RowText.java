package dev.coatcheck.bulk.rows;

import java.util.EnumMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The texts of a row by column, null if there is none. Reused for every row. */
public final class RowText {
  private final Map<Column, String> texts = new EnumMap<>(Column.class);

  void clear() {
    texts.clear();
  }

  /** An empty text counts as none. */
  void set(Column column, String text) {
    if (!text.isEmpty()) {
      texts.put(column, text);
    }
  }

  public @Nullable String get(Column column) {
    return texts.get(column);
  }
}
