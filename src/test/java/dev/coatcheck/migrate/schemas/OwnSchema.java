package dev.coatcheck.migrate.schemas;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Objects;

/** A schema in the shape of a real application, and the table in it that migrates. */
enum OwnSchema {
  /** A self-reference, and more than fifteen foreign keys to one table. */
  CLUB(
      "club.sql",
      "public",
      "member",
      "id",
      "created_at",
      "alter table card drop constraint card_pkey, add primary key (member_id_snowflake_id)",
      "alter table transfer drop constraint transfer_pkey, add primary key (payer_snowflake_id,"
          + " at)"),
  /** Identity columns, names that need quotes, and deferred foreign keys. */
  BACK_OFFICE("back-office.sql", "Back Office", "Order", "ID", "Created At");

  final String namespace;
  final String name;
  final String createdAt;
  private final String file;
  private final String keyName;
  private final String rebuilt;

  OwnSchema(
      String file,
      String namespace,
      String name,
      String keyName,
      String createdAt,
      String... rebuilt) {
    this.file = file;
    this.namespace = namespace;
    this.name = name;
    this.keyName = keyName;
    this.createdAt = createdAt;
    this.rebuilt = String.join(";", rebuilt);
  }

  String sql() {
    try (InputStream sql = OwnSchema.class.getResourceAsStream(file)) {
      return new String(Objects.requireNonNull(sql).readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
  }

  /**
   * What the DBA does before the last phase: other keys that hold an old column. A transaction for
   * each: whoever locks two tables in one can make a writer the victim of a deadlock.
   */
  String[] rebuilt() {
    return rebuilt.split(";");
  }

  /** As in a statement. */
  String table() {
    return '"' + namespace + "\".\"" + name + '"';
  }

  /** The legacy IDs, as in a statement. */
  String key() {
    return '"' + keyName + '"';
  }
}
