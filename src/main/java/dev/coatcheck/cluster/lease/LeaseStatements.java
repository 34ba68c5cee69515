package dev.coatcheck.cluster.lease;

/**
 * The SQL of leases. Each is one statement in a transaction of its own and relies on no session, so
 * that they run behind PgBouncer in transaction mode. All read the clock once, in {@code moment}.
 * The timeline is taken from the current WAL file, because the control file still shows the old one
 * minutes after a promotion.
 *
 * <pre>
 * {0} layout   {1} first worker, or the worker   {2} last worker, or the epoch
 * {3} holder, or the holder's mark   {4} rest   {5} lease   {6} window, all in milliseconds
 * </pre>
 */
final class LeaseStatements {
  static final String MOMENT =
      """
      with clock as materialized (
        select clock_timestamp() as at,
               ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::bigint
                 as timeline),
      moment as materialized (
        select at, timeline, floor(extract(epoch from at) * 1000)::bigint as ms from clock)
      """;

  /** What is locked is being renewed or acquired, and noted by whoever does that. */
  private static final String RESTED =
      """
      , rested as (
        update coatcheck.worker_lease l
           set timeline = m.timeline, rest_until_ms = greatest(l.rest_until_ms, m.ms + {4})
          from moment m
         where l.layout = {0} and l.worker in (
           select stale.worker
             from coatcheck.worker_lease stale, moment m
            where stale.layout = {0} and stale.timeline <> m.timeline and %s
              for update of stale skip locked))
      """;

  /** After a failover every row rests once; a row that rests only now is not free yet. */
  static final String ACQUIRE =
      MOMENT
          + RESTED.formatted("true")
          + """
          , free as (
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

  private static final String OWN_IS_STALE =
      """
      stale.worker <> {1} and exists (
        select from coatcheck.worker_lease own
         where own.layout = {0} and own.worker = {1} and own.timeline <> m.timeline)\
      """;

  /** The first renewal after a failover makes all other rows rest. */
  static final String RENEW =
      MOMENT
          + RESTED.formatted(OWN_IS_STALE)
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

  /**
   * The epoch fences every other holder off; the mark, an older renewal that arrives late. A lease
   * that has expired is not renewed, though the row looks untouched: someone else may have had the
   * worker since, on a primary whose last writes were lost in a failover.
   */
  static final String RENEW_MATCH =
      "l.epoch = {2} and l.granted_until_ms <= {3} and l.expires_at > m.at";

  /** The next epoch, so that a renewal still under way finds nothing. */
  static final String RELEASE =
      MOMENT
          + """
          update coatcheck.worker_lease l
             set epoch = l.epoch + 1, expires_at = m.at
            from moment m
           where l.layout = {0} and l.worker = {1} and l.epoch = {2}
          """;

  static final String REGISTER =
      MOMENT
          + """
          insert into coatcheck.worker_lease (layout, worker, timeline)
          select {0}, n, m.timeline from generate_series({1}::int, {2}::int) n, moment m
              on conflict do nothing
          """;

  private LeaseStatements() {}
}
