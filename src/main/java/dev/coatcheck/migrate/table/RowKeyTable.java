package dev.coatcheck.migrate.table;

import dev.coatcheck.bulk.load.LegacyKeyWriter.LegacyKey;
import dev.coatcheck.migrate.source.SqlTemplate;
import dev.coatcheck.migrate.source.TargetSql;
import dev.coatcheck.postgres.sql.PlainSql;
import java.util.List;
import org.jooq.DSLContext;

/**
 * Writes keys to the rows of a table with the function of {@code fill.sql}, which runs the table's
 * own triggers as the table's owner, with the application's search path.
 */
final class RowKeyTable {
  static final SqlTemplate FUNCTION = SqlTemplate.file(RowKeyTable.class, "fill.sql");

  /** Calls the function. Values: the legacy IDs of the rows, and the keys. */
  static final SqlTemplate CALL = SqlTemplate.file(RowKeyTable.class, "write.sql");

  private RowKeyTable() {}

  /**
   * Writes keys to those of the rows that have none.
   *
   * @param rows in the order of their legacy IDs
   * @return the changed rows, with their current keys: a trigger may have skipped some rows
   */
  static List<LegacyKey> write(DSLContext sql, TargetSql names, List<LegacyKey> rows) {
    List<LegacyKey> written =
        PlainSql.rows(
            sql,
            names.fill(CALL),
            row -> new LegacyKey(row.getLong(1), row.getLong(2)),
            rows.stream().map(LegacyKey::legacy).toArray(Long[]::new),
            rows.stream().map(LegacyKey::key).toArray(Long[]::new));
    PlainSql.pinPath(sql);
    return written;
  }
}
