package dev.coatcheck.migrate.source;

import dev.coatcheck.postgres.sql.PlainSql;
import dev.coatcheck.postgres.sql.Session;
import org.jooq.DSLContext;

/** Who may write to the source, and who may not any more. */
final class SessionStore {
  private static final String HAS_CHECKPOINT =
      "select to_regclass('<schema>.checkpoint') is not null";

  private static final String FENCE =
      """
      update <schema>.checkpoint set fence = ?, status = 'running'
       where run = <run> and fence <= ?\
      """;

  private static final String IS_THERE =
      "select exists (select from <schema>.checkpoint where run = <run>)";

  private static final String END_OTHERS =
      """
      select pg_terminate_backend(pid) from pg_stat_activity
       where application_name = ? and pid <> pg_backend_pid() and usename = current_user\
      """;

  private final Session session;
  private final TargetSql names;

  SessionStore(Session session, Target target) {
    this.session = session;
    this.names = new TargetSql(target);
  }

  void endOthers(String applicationName) {
    session.transaction(
        "end earlier runners",
        sql -> PlainSql.rows(sql, END_OTHERS, row -> row.getBoolean(1), applicationName));
  }

  /** True if there is nothing to fence yet. */
  boolean fence(long fence) {
    return session.transaction("fence", sql -> fence(sql, fence));
  }

  private boolean fence(DSLContext sql, long fence) {
    return !PlainSql.isTrue(sql, names.fill(HAS_CHECKPOINT))
        || PlainSql.execute(sql, names.fill(FENCE), fence, fence) == 1
        || !PlainSql.isTrue(sql, names.fill(IS_THERE));
  }
}
