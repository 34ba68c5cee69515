package dev.coatcheck.migrate.source;

/** A table of a source by its exact names, as the catalog spells them. */
public record TableName(String schema, String table) {

  /** For the text of a statement. */
  public String quoted() {
    return quoted(schema) + "." + quoted(table);
  }

  /** As people write it. */
  public String text() {
    return schema + "." + table;
  }

  /** An identifier for the text of a statement, whatever it holds. */
  public static String quoted(String identifier) {
    return '"' + identifier.replace("\"", "\"\"") + '"';
  }

  /** A string for the text of a statement. */
  public static String literal(String text) {
    String doubled = text.replace("'", "''");
    return text.indexOf('\\') < 0
        ? "'" + doubled + "'"
        : " E'" + doubled.replace("\\", "\\\\") + "'";
  }
}
