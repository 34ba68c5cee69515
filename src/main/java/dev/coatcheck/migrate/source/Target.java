package dev.coatcheck.migrate.source;

import java.util.Optional;
import java.util.UUID;

/**
 * The table of one run.
 *
 * @param run names the run in the source
 * @param oid by which the table was found when it was planned
 * @param keyColumn the auto-increment primary key
 * @param keyType {@code smallint}, {@code integer} or {@code bigint}
 */
public record Target(
    UUID run,
    TableName table,
    long oid,
    String keyColumn,
    String keyType,
    Optional<TimeColumn> createdAt) {

  /** The column that new keys are put into. */
  public static final String NEW_COLUMN = "snowflake_id";

  /**
   * Says when a row was made.
   *
   * @param type {@code timestamptz}, {@code timestamp} (read as UTC) or {@code date}
   */
  public record TimeColumn(String name, String type) {}

  /** The key column for the text of a statement. */
  public String key() {
    return TableName.quoted(keyColumn);
  }
}
