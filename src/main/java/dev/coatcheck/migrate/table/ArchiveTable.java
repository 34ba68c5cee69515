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
import org.jooq.DSLContext;

/** Copies each row's legacy ID and key to the archive before an undo removes the keys. */
public final class ArchiveTable {
  private static final SqlTemplate PART = SqlTemplate.file(ArchiveTable.class, "archive-batch.sql");

  /** With {@code row_security} off, a read fails if a policy would hide rows. */
  private static final String BOUND =
      SourceSession.BOUND_LOCKS + ", set_config('row_security', 'off', true)";

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
      return new Outcome.Filled(session.transaction("archive", sql -> next(sql, rowsMax)), 0, 0);
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
}
