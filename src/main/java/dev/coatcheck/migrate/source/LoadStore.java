package dev.coatcheck.migrate.source;

import dev.coatcheck.postgres.sql.Database;
import dev.coatcheck.postgres.sql.PlainSql;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/** Reads the load of a source. Values that its role may not see count as zero. */
final class LoadStore {
  /** A copy of the database, made by its template, has the same OIDs. */
  private static final String LOAD =
      """
      with locks as materialized (
        select pid, granted from pg_locks
         where relation = ?::oid
           and database = (select oid from pg_database where datname = current_database()))
      select coalesce((select max(extract(epoch from replay_lag)) from pg_stat_replication), 0)::bigint,
             (select count(*) from locks where not granted and pid <> pg_backend_pid()),
             exists (select from pg_stat_progress_vacuum v join locks l using (pid)
                      where l.granted),
             exists (select from pg_stat_activity
                      where backend_type = 'autovacuum worker'
                        and query like '%to prevent wraparound%'
                        and pid in (select pid from locks)),
             (select coalesce(last_failed_time > last_archived_time,
                              last_failed_time is not null and last_archived_time is null)
                from pg_stat_archiver),
             coalesce((select max(extract(epoch from clock_timestamp() - xact_start))
                         from pg_stat_activity
                        where backend_type = 'client backend' and pid <> pg_backend_pid()
                          and datname = current_database()
                          and application_name !~ '^coatcheck (run|outbox) '), 0)::bigint\
      """;

  /** Reads no position if there is no replica, because some services don't provide it. */
  private static final String REPLICAS =
      """
      select max(pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0'))::bigint,
             min(pg_wal_lsn_diff(replay_lsn, '0/0'))::bigint
        from pg_stat_replication
       where replay_lsn is not null
      having count(*) > 0\
      """;

  private static final String SLOT =
      """
      select slot_name, pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn)::bigint
        from pg_replication_slots
       where restart_lsn is not null
       order by restart_lsn limit 1\
      """;

  private static final String POSITION =
      "select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::bigint";

  private final Database source;
  private final Target target;
  private final LongSupplier nanoTime;
  private final String probe;

  LoadStore(Database source, Target target, LongSupplier nanoTime) {
    this.source = source;
    this.nanoTime = nanoTime;
    this.target = target;
    this.probe =
        new TargetSql(target).fill("select t.<id> from <table> t order by t.<id> desc limit 1");
  }

  SourceLoad load() {
    long beganNano = nanoTime.getAsLong();
    source.read("probe", sql -> PlainSql.rows(sql, probe, row -> row.getLong(1)));
    long latencyMillis = TimeUnit.NANOSECONDS.toMillis(nanoTime.getAsLong() - beganNano);
    return source.read(
        "throttle",
        sql -> {
          var replicas =
              PlainSql.first(
                  sql, REPLICAS, row -> new SourceLoad.Replicas(row.getLong(1), row.getLong(2)));
          var slot =
              PlainSql.first(
                  sql, SLOT, row -> new SourceLoad.Slot(row.getString(1), row.getLong(2)));
          return PlainSql.row(
              sql,
              LOAD,
              row ->
                  new SourceLoad(
                      row.getLong(1),
                      replicas,
                      slot,
                      row.getLong(2),
                      row.getBoolean(3),
                      row.getBoolean(4),
                      row.getBoolean(5),
                      row.getLong(6),
                      latencyMillis),
              target.oid());
        });
  }

  long walPosition() {
    return source.read("throttle", sql -> PlainSql.row(sql, POSITION, row -> row.getLong(1)));
  }
}
