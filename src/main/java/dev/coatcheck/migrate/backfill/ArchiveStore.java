package dev.coatcheck.migrate.backfill;

import dev.coatcheck.migrate.source.SqlTemplate;
import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.migrate.source.TargetSql;
import dev.coatcheck.postgres.session.Session;
import dev.coatcheck.postgres.sql.PlainSql;

/** All SQL of the archive. */
final class ArchiveStore {
  private static final SqlTemplate PART = SqlTemplate.file(ArchiveStore.class, "archive.sql");

  private static final String HAS_CHECKPOINT =
      "select exists (select from <schema>.checkpoint where run = <run>)";

  private final Session session;
  private final TargetSql names;

  ArchiveStore(Session session, Target target) {
    this.session = session;
    this.names = new TargetSql(target);
  }

  /** Archives some more rows; false if there are none. */
  boolean part(int rows) {
    return session.transaction(
        "archive",
        sql ->
            PlainSql.isTrue(sql, names.fill(HAS_CHECKPOINT))
                && PlainSql.execute(sql, names.fill(PART), rows) == 1);
  }
}
