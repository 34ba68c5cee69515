package dev.coatcheck.migrate.source;

import java.util.List;
import java.util.Optional;
import java.util.UUID;

/**
 * The table of one run, with the names that it and its columns have now.
 *
 * @param run names the run in the source
 * @param oid by which the table is found, whatever it is called
 * @param keyColumn the auto-increment primary key
 * @param keyType {@code smallint}, {@code integer} or {@code bigint}
 * @param anchors by which the rest is found
 * @param applicationPath with which the table's triggers, checks and index functions run
 * @param children the columns with a foreign key to its key, as they were planned
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

  /** The column that new keys are put into. */
  public static final String NEW_COLUMN = "snowflake_id";

  /**
   * Says when a row was made.
   *
   * @param type {@code timestamptz}, {@code timestamp} (read as UTC) or {@code date}
   */
  public record TimeColumn(String name, String type) {}

  /**
   * What stays when names move.
   *
   * @param firstName what the table was called when something of ours was first made for it: by
   *     that name our objects are called, in later runs too
   * @param keyAttnum the number of the key column in {@code pg_attribute}
   * @param createdAtAttnum that of {@link #createdAt}; 0: there is none
   */
  public record Anchors(TableName firstName, int keyAttnum, int createdAtAttnum) {}

  /** The key column for the text of a statement. */
  public String key() {
    return TableName.quoted(keyColumn);
  }

  /** The names of what was made for the table. */
  public ObjectNames objects() {
    return new ObjectNames(anchors.firstName(), table.schema());
  }

  /** With other children. */
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
