package dev.coatcheck.migrate.throttle;

import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.postgres.sql.Database;
import dev.coatcheck.postgres.sql.PlainSql;
import java.util.concurrent.TimeUnit;

/** Looks at how busy a source is. What its role may not see counts as nothing. */
final class LoadStore {
  private static final String LOAD =
      """
      select coalesce((select max(extract(epoch from replay_lag)) from pg_stat_replication), 0)::bigint,
             (select count(*) from pg_locks
               where relation = ?::oid and not granted and pid <> pg_backend_pid()),
             exists (select from pg_stat_activity
                      where backend_type = 'autovacuum worker'
                        and query like '%to prevent wraparound%'
                        and pid in (select pid from pg_locks where relation = ?::oid)),
             (select coalesce(last_failed_time > last_archived_time,
                              last_failed_time is not null and last_archived_time is null)
                from pg_stat_archiver),
             coalesce((select max(extract(epoch from clock_timestamp() - xact_start))
                         from pg_stat_activity
                        where backend_type = 'client backend' and pid <> pg_backend_pid()
                          and datname = current_database()
                          and application_name not like 'coatcheck run %'), 0)::bigint\
      """;

  private final Database source;
  private final Target target;
  private final String probe;

  LoadStore(Database source, Target target) {
    this.source = source;
    this.target = target;
    this.probe =
        "select %1$s from %2$s order by %1$s desc limit 1"
            .formatted(target.key(), target.table().quoted());
  }

  SourceLoad load() {
    long beganNano = System.nanoTime();
    source.read("probe", sql -> PlainSql.rows(sql, probe, row -> row.getLong(1)));
    long latencyMillis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - beganNano);
    return source.read(
        "throttle",
        sql ->
            PlainSql.rows(
                    sql,
                    LOAD,
                    row ->
                        new SourceLoad(
                            row.getLong(1),
                            row.getLong(2),
                            row.getBoolean(3),
                            row.getBoolean(4),
                            row.getLong(5),
                            latencyMillis),
                    target.oid(),
                    target.oid())
                .getFirst());
  }
}
