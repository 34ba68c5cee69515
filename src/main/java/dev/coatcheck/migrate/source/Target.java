package dev.coatcheck.migrate.source;

import java.util.List;
import java.util.Optional;
import java.util.UUID;

/**
 * The table of one run, with the current names of the table and its columns.
 *
 * @param run names the run in the source
 * @param oid identifies the table, whatever its name
 * @param keyColumn the auto-increment primary key
 * @param keyType {@code smallint}, {@code integer} or {@code bigint}
 * @param anchors identify the columns and our objects
 * @param applicationPath with which the table's triggers, checks and index functions run
 * @param children the columns with a foreign key to its key, as planned
 */
public record Target(
    UUID run,
    TableName table,
    long oid,
    String keyColumn,
    String keyType,
    Optional<TimeColumn> createdAt,
    Anchors anchors,
    SearchPath applicationPath,
    List<Child> children) {
  public Target {
    children = List.copyOf(children);
  }

  /** The column of the new keys. */
  public static final String NEW_COLUMN = "snowflake_id";

  /**
   * The column with the creation time of a row.
   *
   * @param type {@code timestamptz}, {@code timestamp} (read as UTC) or {@code date}
   */
  public record TimeColumn(String name, String type) {}

  /**
   * What stays the same when names change.
   *
   * @param firstName the table's name when our first object for it was created; our objects are
   *     named after it, in later runs too
   * @param keyAttnum the number of the key column in {@code pg_attribute}
   * @param createdAtAttnum that of {@link #createdAt}; 0: there is none
   */
  public record Anchors(TableName firstName, int keyAttnum, int createdAtAttnum) {}

  public String key() {
    return TableName.quoted(keyColumn);
  }

  public ObjectNames objects() {
    return new ObjectNames(anchors.firstName(), table.schema());
  }

  public Target with(List<Child> childrenNow) {
    return new Target(
        run, table, oid, keyColumn, keyType, createdAt, anchors, applicationPath, childrenNow);
  }

  Target renamed(
      TableName tableNow, String keyNow, Optional<String> createdAtNow, List<Child> childrenNow) {
    return new Target(
        run,
        tableNow,
        oid,
        keyNow,
        keyType,
        createdAt.map(column -> new TimeColumn(createdAtNow.orElse(column.name()), column.type())),
        anchors,
        applicationPath,
        childrenNow);
  }
}
