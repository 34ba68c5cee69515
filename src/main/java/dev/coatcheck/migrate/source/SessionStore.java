package dev.coatcheck.migrate.source;

import dev.coatcheck.postgres.session.Session;
import dev.coatcheck.postgres.sql.PlainSql;
import java.util.List;

/** All SQL of the fence that excludes earlier runners, and for ending their sessions. */
final class SessionStore {
  private static final String HAS_CHECKPOINT =
      "select to_regclass('<schema>.checkpoint') is not null";

  private static final SqlTemplate FENCE = SqlTemplate.file(SessionStore.class, "fence.sql");

  private static final String IS_THERE =
      "select exists (select from <schema>.checkpoint where run = <run>)";

  private static final String IS_FENCED =
      "select exists (select from <schema>.checkpoint where run = <run> and fence > ?)";

  /** Relays and look-ups take a moment. If a transaction takes longer, its client may be gone. */
  private static final String OTHERS =
      """
      select pid from pg_stat_activity
       where pid <> pg_backend_pid() and usename = current_user
         and datname = current_database()
         and (application_name = ?
              or application_name in (?, ?, ?) and xact_start < clock_timestamp() - interval '2 s')\
      """;

  /** Returns once the process is gone, or after 30 s. */
  private static final String END = "select pg_terminate_backend(?, 30000)";

  private final Session session;
  private final Target target;
  private final TargetSql names;

  SessionStore(Session session, Target target) {
    this.session = session;
    this.target = target;
    this.names = new TargetSql(target);
  }

  /** Ends all other sessions of the run and waits for that; false if one of them continues. */
  boolean endOthers() {
    others().forEach(this::end);
    return others().isEmpty();
  }

  private List<Integer> others() {
    return session.transaction(
        "earlier runners",
        sql ->
            PlainSql.rows(
                sql,
                OTHERS,
                row -> row.getInt(1),
                SourceSession.Name.RUNNER.of(target),
                SourceSession.Name.OUTBOX.of(target),
                SourceSession.Name.LOOK_UP.of(target),
                SourceSession.Name.FUNCTIONS.of(target)));
  }

  private void end(int pid) {
    session.transaction("end an earlier runner", sql -> PlainSql.isTrue(sql, END, pid));
  }

  /** Whether a later runner has been here. */
  boolean isFenced(long fence) {
    return session.transaction(
        "fence",
        sql ->
            PlainSql.isTrue(sql, names.fill(HAS_CHECKPOINT))
                && PlainSql.isTrue(sql, names.fill(IS_FENCED), fence));
  }

  /** True if there is nothing to fence yet. */
  boolean fence(long fence) {
    return session.transaction(
        "fence",
        sql ->
            !PlainSql.isTrue(sql, names.fill(HAS_CHECKPOINT))
                || PlainSql.execute(sql, names.fill(FENCE), fence, fence) == 1
                || !PlainSql.isTrue(sql, names.fill(IS_THERE)));
  }
}
