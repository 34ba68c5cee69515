package dev.coatcheck.bulk.rows;

import java.util.Locale;
import java.util.Optional;

/** The columns of a row, named as in CSV headers and NDJSON objects. */
public enum Column {
  TYPE,
  KEY,
  LEGACY_ID,
  CREATED_AT,
  PUBLIC_ID,
  CLIENT_ID,
  CLIENT_NAMESPACE,
  CLIENT_PRINCIPAL;

  private static final Column[] ALL = values();
  private final String wireName = name().toLowerCase(Locale.ROOT);

  public String wireName() {
    return wireName;
  }

  static Optional<Column> named(String wireName) {
    for (Column column : ALL) {
      if (column.wireName.equals(wireName)) {
        return Optional.of(column);
      }
    }
    return Optional.empty();
  }
}
