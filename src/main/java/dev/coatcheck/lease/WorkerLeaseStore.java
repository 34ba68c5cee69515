package dev.coatcheck.lease;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Optional;
import javax.sql.DataSource;
import org.jooq.DSLContext;
import org.jooq.SQLDialect;
import org.jooq.exception.DataAccessException;
import org.jooq.impl.DSL;

/**
 * The statements behind a lease. Each is one statement in a transaction of its own and relies on no
 * session, so that they run behind PgBouncer in transaction mode. All read the clock once: the
 * {@code moment}. The timeline is taken from the current WAL file, because the control file still
 * shows the old one minutes after a promotion.
 */
final class WorkerLeaseStore {
  private static final int STATEMENT_MILLIS_MAX = 800;

  static final String MOMENT =
      """
      with clock as materialized (
        select clock_timestamp() as at,
               ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::bigint
                 as timeline),
      moment as materialized (
        select at, timeline, floor(extract(epoch from at) * 1000)::bigint as ms from clock)
      """;

  /** After a failover every row rests once; rows that rest only now are not free yet. */
  private static final String ACQUIRE =
      MOMENT
          + """
          , rested as (
            update coatcheck.worker_lease l
               set timeline = m.timeline,
                   rest_until_ms = greatest(l.rest_until_ms, m.ms + {4})
              from moment m
             where l.layout = {0} and l.timeline <> m.timeline),
          free as (
            select l.worker
              from coatcheck.worker_lease l, moment m
             where l.layout = {0} and l.worker between {1} and {2} and l.timeline = m.timeline
               and l.granted_until_ms < m.ms and l.expires_at <= m.at and l.rest_until_ms <= m.ms
             order by random()
             limit 1
               for update of l skip locked)
          update coatcheck.worker_lease l
             set epoch = l.epoch + 1,
                 holder = {3},
                 expires_at = m.at + {5} * interval '1 millisecond',
                 granted_until_ms = m.ms + {6}
            from moment m, free
           where l.layout = {0} and l.worker = free.worker
          returning l.worker, l.epoch, m.ms, l.granted_until_ms
          """;

  private static final String RENEW =
      MOMENT
          + """
          update coatcheck.worker_lease l
             set granted_until_ms = greatest({3}, m.ms + {6}),
                 expires_at = m.at + {5} * interval '1 millisecond',
                 rest_until_ms = case when l.timeline = m.timeline then l.rest_until_ms
                                      else greatest(l.rest_until_ms, m.ms + {4}) end,
                 timeline = m.timeline
            from moment m
           where l.layout = {0} and l.worker = {1} and %s
          returning m.ms, l.granted_until_ms
          """;

  /** The next epoch, so that a renewal still under way finds nothing. */
  private static final String RELEASE =
      MOMENT
          + """
          update coatcheck.worker_lease l
             set epoch = l.epoch + 1, expires_at = m.at
            from moment m
           where l.layout = {0} and l.worker = {1} and l.epoch = {2}
          """;

  private static final String REGISTER =
      MOMENT
          + """
          insert into coatcheck.worker_lease (layout, worker, timeline)
          select {0}, n, m.timeline from generate_series({1}::int, {2}::int) n, moment m
              on conflict do nothing
          """;

  /** The epoch fences every other holder off; the mark, an older renewal that arrives late. */
  static final String RENEW_MATCH = "l.epoch = {2} and l.granted_until_ms <= {3}";

  private final DataSource pool;
  private final LeaseSettings settings;
  private final String renewMatch;

  WorkerLeaseStore(DataSource pool, LeaseSettings settings) {
    this(pool, settings, RENEW_MATCH);
  }

  WorkerLeaseStore(DataSource pool, LeaseSettings settings, String renewMatch) {
    this.pool = pool;
    this.settings = settings;
    this.renewMatch = renewMatch;
  }

  /** Never throws for a database that is slow or gone: that is a reply too. */
  LeaseReply send(LeaseRequest request) {
    try (Connection connection = pool.getConnection()) {
      connection.setNetworkTimeout(Runnable::run, STATEMENT_MILLIS_MAX);
      DSLContext sql = DSL.using(connection, SQLDialect.POSTGRES);
      return switch (request) {
        case LeaseRequest.Acquire _ -> acquire(sql);
        case LeaseRequest.Renew renew -> renew(sql, renew);
        case LeaseRequest.Release release -> release(sql, release);
      };
    } catch (SQLException | DataAccessException e) {
      return new LeaseReply.Failed(String.valueOf(e.getMessage()));
    }
  }

  private LeaseReply acquire(DSLContext sql) {
    Optional<LeaseReply> first = acquireFree(sql);
    if (first.isPresent()) {
      return first.get();
    }
    int registered =
        sql.execute(
            REGISTER,
            DSL.val(settings.layout().name()),
            DSL.val(settings.firstWorker()),
            DSL.val(settings.lastWorker()));
    Optional<LeaseReply> second = registered > 0 ? acquireFree(sql) : Optional.empty();
    return second.orElseGet(() -> new LeaseReply.NoneFree(WorkerStore.noneFree(sql, settings)));
  }

  private Optional<LeaseReply> acquireFree(DSLContext sql) {
    return sql.resultQuery(
            ACQUIRE,
            DSL.val(settings.layout().name()),
            DSL.val(settings.firstWorker()),
            DSL.val(settings.lastWorker()),
            DSL.val(settings.holder()),
            DSL.val(settings.restMillis()),
            DSL.val(LeaseSettings.LEASE_MILLIS),
            DSL.val(settings.windowMillis()))
        .fetchOptional(
            row ->
                new LeaseReply.Acquired(
                    row.get(0, Integer.class),
                    row.get(1, Long.class),
                    row.get(2, Long.class),
                    row.get(3, Long.class)));
  }

  private LeaseReply renew(DSLContext sql, LeaseRequest.Renew renew) {
    return sql.resultQuery(
            RENEW.formatted(renewMatch),
            DSL.val(settings.layout().name()),
            DSL.val(renew.worker()),
            DSL.val(renew.epoch()),
            DSL.val(renew.untilMillis()),
            DSL.val(settings.restMillis()),
            DSL.val(LeaseSettings.LEASE_MILLIS),
            DSL.val(settings.windowMillis()))
        .fetchOptional()
        .<LeaseReply>map(
            row -> new LeaseReply.Renewed(row.get(0, Long.class), row.get(1, Long.class)))
        .orElseGet(LeaseReply.Gone::new);
  }

  private LeaseReply release(DSLContext sql, LeaseRequest.Release release) {
    sql.execute(
        RELEASE,
        DSL.val(settings.layout().name()),
        DSL.val(release.worker()),
        DSL.val(release.epoch()));
    return new LeaseReply.Released();
  }
}
