package dev.coatcheck.migrate.source;

import dev.coatcheck.core.id.Sha256;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;

/**
 * The names of the objects that a run makes. Postgres silently cuts a name after 63 bytes, and the
 * rest could be the name of another object. So a derived name is cut to 54 bytes, and eight hex
 * digits of a hash of the whole name keep it unique.
 */
public final class ObjectNames {
  /** Where everything lies that is not on the table itself. */
  public static final String SCHEMA = "coatcheck_migration";

  private static final int CUT_BYTES = 54;

  private final TableName table;
  private final String schemaNow;

  /**
   * Names what is made for a table.
   *
   * @param table what the table was called first; the names stay when it is renamed
   * @param schemaNow where the table and its indexes lie now
   */
  public ObjectNames(TableName table, String schemaNow) {
    this.table = table;
    this.schemaNow = schemaNow;
  }

  /** In our schema, qualified and quoted. */
  public String ours(String kind) {
    return SCHEMA + "." + TableName.quoted(derived(kind));
  }

  /** In the schema of the table, qualified and quoted. */
  public String beside(String kind) {
    return TableName.quoted(schemaNow) + "." + TableName.quoted(derived(kind));
  }

  /** Quoted, for a statement that takes no schema: {@code create index}, a constraint. */
  public String quoted(String kind) {
    return TableName.quoted(derived(kind));
  }

  /** As the catalog has it. */
  public String derived(String kind) {
    String whole = kind + "_" + table.schema() + "_" + table.table();
    return cut(whole) + "_" + hash(kind + '\0' + table.schema() + '\0' + table.table());
  }

  /** A name that is too long, cut. */
  static String shortened(String name) {
    return cut(name) + "_" + hash(name);
  }

  static int bytes(String name) {
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
