package dev.coatcheck.bulk.rows;

import java.util.EnumMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A row as it was sent: texts by column, null where there is none. Refilled for every row. */
public final class RowText {
  private final Map<Column, String> texts = new EnumMap<>(Column.class);

  void clear() {
    texts.clear();
  }

  /** An empty text is none. */
  void set(Column column, String text) {
    if (!text.isEmpty()) {
      texts.put(column, text);
    }
  }

  public @Nullable String get(Column column) {
    return texts.get(column);
  }
}
