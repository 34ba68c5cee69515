package dev.coatcheck.migrate.source;

/** A table of a source by its exact names, as the catalog spells them. */
public record TableName(String schema, String table) {

  public String quoted() {
    return quoted(schema) + "." + quoted(table);
  }

  /** The usual spelling for people. */
  public String text() {
    return schema + "." + table;
  }

  /** An identifier for SQL text, whatever it contains. */
  public static String quoted(String identifier) {
    return '"' + identifier.replace("\"", "\"\"") + '"';
  }

  public static String literal(String text) {
    String doubled = text.replace("'", "''");
    return text.indexOf('\\') < 0
        ? "'" + doubled + "'"
        : " E'" + doubled.replace("\\", "\\\\") + "'";
  }
}
