package dev.coatcheck.migrate.table;

import dev.coatcheck.migrate.source.SourceSession;
import dev.coatcheck.migrate.source.SqlTemplate;
import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.migrate.source.TargetSql;
import dev.coatcheck.postgres.session.Session;
import dev.coatcheck.postgres.sql.PlainSql;
import java.util.function.BooleanSupplier;

/** Copies each row's legacy ID and key to the archive before an undo removes the keys. */
public final class ArchiveTable {
  private static final SqlTemplate PART = SqlTemplate.file(ArchiveTable.class, "archive-batch.sql");

  private static final String HAS_CHECKPOINT =
      "select exists (select from <schema>.checkpoint where run = <run>)";

  private static final int ROWS = 20_000;

  private final Session session;
  private final TargetSql names;

  public ArchiveTable(SourceSession session, Target target) {
    this.session = session.session();
    this.names = new TargetSql(target);
  }

  /**
   * Reads the table once.
   *
   * @param goOn asked before each part
   * @return false if the copy was stopped
   */
  public boolean run(BooleanSupplier goOn) {
    while (goOn.getAsBoolean()) {
      if (!part()) {
        return true;
      }
    }
    return false;
  }

  /** Archives some more rows; false if there are none. */
  private boolean part() {
    return session.transaction(
        "archive",
        sql ->
            PlainSql.isTrue(sql, names.fill(HAS_CHECKPOINT))
                && PlainSql.execute(sql, names.fill(PART), ROWS) == 1);
  }
}
