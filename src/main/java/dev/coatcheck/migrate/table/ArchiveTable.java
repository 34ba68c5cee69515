package dev.coatcheck.migrate.table;

import dev.coatcheck.migrate.source.SourceSession;
import dev.coatcheck.migrate.source.SqlTemplate;
import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.migrate.source.TargetSql;
import dev.coatcheck.migrate.table.Backfill.Outcome;
import dev.coatcheck.migrate.table.SetAside.Cause;
import dev.coatcheck.postgres.session.Session;
import dev.coatcheck.postgres.sql.LockTimeout;
import dev.coatcheck.postgres.sql.PlainSql;
import java.sql.Array;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.OptionalLong;
import org.jooq.DSLContext;

/**
 * Copies each row's legacy ID and key to the archive before an undo removes the keys, or contract
 * the legacy IDs.
 */
public final class ArchiveTable {
  private static final SqlTemplate PART = SqlTemplate.file(ArchiveTable.class, "archive-batch.sql");
  private static final SqlTemplate MISSING =
      SqlTemplate.file(ArchiveTable.class, "archive-missing.sql");

  /** A read fails if a policy would hide rows. */
  private static final String ALL_ROWS = "set_config('row_security', 'off', true)";

  private static final String BOUND = SourceSession.BOUND_LOCKS + ", " + ALL_ROWS;

  /** Before the lowest ID. */
  private static final String RESTART =
      "update <schema>.checkpoint set archived_id = " + Long.MIN_VALUE + " where run = <run>";

  private static final String HAS_CHECKPOINT =
      "select exists (select from <schema>.checkpoint where run = <run>)";

  private final Session session;
  private final TargetSql names;

  public ArchiveTable(SourceSession session, Target target) {
    this.session = session.session();
    this.names = new TargetSql(target);
  }

  /**
   * Archives some more rows.
   *
   * @return how many it read; refused if another session is about to archive one of them
   */
  public Outcome next(int rowsMax) {
    try {
      return new Outcome.Filled(session.transaction("archive", sql -> next(sql, rowsMax)));
    } catch (LockTimeout deleted) {
      return new Outcome.Failed(Cause.LOCKED, "archive: another session is deleting rows");
    }
  }

  private int next(DSLContext sql, int rowsMax) {
    PlainSql.execute(sql, BOUND);
    return PlainSql.isTrue(sql, names.fill(HAS_CHECKPOINT))
        ? PlainSql.first(sql, names.fill(PART), row -> row.getInt(1), rowsMax).orElse(0)
        : 0;
  }

  /** The next rows are the first of the table. */
  public void restart() {
    int _ = session.transaction("archive", sql -> PlainSql.execute(sql, names.fill(RESTART)));
  }

  /**
   * Some rows, compared with the archive.
   *
   * @param lastId empty behind the last row
   * @param missing the legacy IDs of rows that are not in the archive with their key
   */
  public record Compared(OptionalLong lastId, List<Long> missing) {
    public Compared {
      missing = List.copyOf(missing);
    }
  }

  /** Compares some more rows after an ID, in a snapshot of their own. */
  public Compared compare(long afterId, int rowsMax) {
    return session.transaction(
        "archived rows",
        sql -> {
          PlainSql.execute(sql, "select " + ALL_ROWS);
          return PlainSql.row(sql, names.fill(MISSING), ArchiveTable::compared, afterId, rowsMax);
        });
  }

  private static Compared compared(ResultSet row) throws SQLException {
    Array missing = row.getArray(2);
    return new Compared(
        PlainSql.optionalLong(row, 1),
        missing == null ? List.of() : List.of((Long[]) missing.getArray()));
  }
}
