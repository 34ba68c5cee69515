package dev.coatcheck.bench.footprint;

import java.util.Locale;

/** A kind of keys, each in a table of its own. */
enum KeyKind {
  SNOWFLAKE("bigint"),
  UUIDV7("uuid"),
  UUIDV4("uuid");

  final String column;

  KeyKind(String column) {
    this.column = column;
  }

  String text() {
    return name().toLowerCase(Locale.ROOT);
  }

  String table() {
    return "of_" + text();
  }
}
