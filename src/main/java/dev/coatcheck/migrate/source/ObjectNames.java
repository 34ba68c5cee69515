package dev.coatcheck.migrate.source;

import dev.coatcheck.core.id.Sha256;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;

/**
 * The names of a run's objects. Postgres silently cuts a name after 63 bytes, and the rest could be
 * the name of another object. So a derived name is cut to 54 bytes, and eight hex digits of a hash
 * of the whole name keep it unique.
 */
public final class ObjectNames {
  /** The schema of all objects that are not on the table itself. */
  public static final String SCHEMA = "coatcheck_migration";

  /** Postgres cuts a longer name without a word, and may then mean another object. */
  public static final int BYTES_MAX = 63;

  private static final int CUT_BYTES = 54;

  private final TableName table;
  private final String schemaNow;

  /**
   * Names the objects for a table.
   *
   * @param table the table's first name; the objects keep their names when the table is renamed
   * @param schemaNow the current schema of the table and its indexes
   */
  public ObjectNames(TableName table, String schemaNow) {
    this.table = table;
    this.schemaNow = schemaNow;
  }

  /** The name in our schema, qualified and quoted. */
  public String ours(String kind) {
    return SCHEMA + "." + TableName.quoted(derived(kind));
  }

  /** The name in the schema of the table, qualified and quoted. */
  public String beside(String kind) {
    return TableName.quoted(schemaNow) + "." + TableName.quoted(derived(kind));
  }

  /** The quoted name for a statement that takes no schema, such as {@code create index}. */
  public String quoted(String kind) {
    return TableName.quoted(derived(kind));
  }

  /** The name as the catalog has it. */
  public String derived(String kind) {
    String whole = kind + "_" + table.schema() + "_" + table.table();
    return cut(whole) + "_" + hash(kind + '\0' + table.schema() + '\0' + table.table());
  }

  static String shortened(String name) {
    return cut(name) + "_" + hash(name);
  }

  public static int bytes(String name) {
    return name.getBytes(StandardCharsets.UTF_8).length;
  }

  private static String cut(String text) {
    int bytes = 0;
    int end = 0;
    while (end < text.length()) {
      int point = text.codePointAt(end);
      bytes += bytes(Character.toString(point));
      if (bytes > CUT_BYTES) {
        break;
      }
      end += Character.charCount(point);
    }
    return text.substring(0, end);
  }

  private static String hash(String text) {
    return HexFormat.of().formatHex(Sha256.of(text), 0, 4);
  }
}
