package dev.coatcheck.cluster.lease;

import dev.coatcheck.cluster.grant.PrimarySql;

/**
 * The SQL of leases. Each is one statement in a transaction of its own and relies on no session, so
 * that they run behind PgBouncer in transaction mode. All read the clock once, in {@code moment}. A
 * row that another timeline or another system wrote last is stale: the primary that wrote it may
 * have granted more than the row says.
 *
 * <pre>
 * {0} layout   {1} first worker, or the worker   {2} last worker, or the epoch
 * {3} holder, or the holder's mark   {4} rest   {5} lease   {6} window, all in milliseconds
 * {7} workers that are never leased
 * </pre>
 */
final class LeaseStatements {
  static final String MOMENT =
      """
      with clock as materialized (
        select clock_timestamp() as at, %s as timeline, %s as system_identifier),
      moment as materialized (
        select at, timeline, system_identifier,
               floor(extract(epoch from at) * 1000)::bigint as ms
          from clock)
      """
          .formatted(PrimarySql.TIMELINE, PrimarySql.SYSTEM_IDENTIFIER);

  /** Whether the worker {@code l} is held, may have unused keys of its last holder, or rests. */
  static final String IS_TAKEN =
      "(l.expires_at > m.at or l.granted_until_ms >= m.ms or l.rest_until_ms > m.ms)";

  /**
   * What is locked is being renewed or acquired, and noted by that statement. The stale workers are
   * an array, which is made once; as a joined table they were looked up once for each worker of a
   * layout that the planner had no statistics of.
   */
  private static final String RESTED =
      """
      , rested as (
        update coatcheck.worker_lease l
           set timeline = m.timeline, system_identifier = m.system_identifier,
               rest_until_ms = greatest(l.rest_until_ms, m.ms + {4})
          from moment m
         where l.layout = {0} and l.worker = any (array(
           select stale.worker
             from coatcheck.worker_lease stale, moment m
            where stale.layout = {0}
              and (stale.timeline, stale.system_identifier) <> (m.timeline, m.system_identifier)
              and %s
              for update of stale skip locked)))
      """;

  /**
   * After a failover or a restore every row rests once; a row that rests only now is not free yet.
   */
  static final String ACQUIRE =
      MOMENT
          + RESTED.formatted("true")
          + """
          , free as (
            select l.worker
              from coatcheck.worker_lease l, moment m
             where l.layout = {0} and l.worker between {1} and {2} and l.worker <> all ({7})
               and (l.timeline, l.system_identifier) = (m.timeline, m.system_identifier)
               and %s is not true
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
          """
              .formatted(IS_TAKEN);

  private static final String OWN_IS_STALE =
      """
      stale.worker <> {1} and exists (
        select from coatcheck.worker_lease own
         where own.layout = {0} and own.worker = {1}
           and (own.timeline, own.system_identifier) <> (m.timeline, m.system_identifier))\
      """;

  /** The first renewal after a failover or a restore makes all other rows rest. */
  static final String RENEW =
      MOMENT
          + RESTED.formatted(OWN_IS_STALE)
          + """
          update coatcheck.worker_lease l
             set granted_until_ms = greatest({3}, m.ms + {6}),
                 expires_at = m.at + {5} * interval '1 millisecond',
                 rest_until_ms =
                   case when (l.timeline, l.system_identifier) = (m.timeline, m.system_identifier)
                        then l.rest_until_ms
                        else greatest(l.rest_until_ms, m.ms + {4}) end,
                 timeline = m.timeline,
                 system_identifier = m.system_identifier
            from moment m
           where l.layout = {0} and l.worker = {1} and %s
          returning m.ms, l.granted_until_ms
          """;

  /** The next epoch, so that a renewal still under way finds nothing. */
  static final String RELEASE =
      MOMENT
          + """
          update coatcheck.worker_lease l
             set epoch = l.epoch + 1, expires_at = m.at
            from moment m
           where l.layout = {0} and l.worker = {1} and l.epoch = {2}
          """;

  /** A row that is missing may have been lost with its grants, so it rests where that can be. */
  static final String REGISTER =
      MOMENT
          + """
          insert into coatcheck.worker_lease
            (layout, worker, timeline, system_identifier, rest_until_ms)
          select {0}, n, m.timeline, m.system_identifier,
                 case when %s then null else m.ms + {4} end
            from generate_series({1}::int, {2}::int) n, moment m
           where n <> all ({7})
              on conflict do nothing
          """;

  /**
   * The conditions on which it depends that no window is granted twice. A type of its own so that a
   * test can break them on purpose.
   *
   * @param renewable which row a renewal may extend. The epoch fences every other holder off; the
   *     mark, an older renewal that arrives late. A lease that has expired is not renewed, though
   *     the row looks untouched: another instance may have had the worker since, on a primary whose
   *     last writes were lost in a failover.
   * @param neverLost where no registration can have been lost: on the first timeline of the system
   *     on which the schema was made
   */
  record Conditions(String renewable, String neverLost) {
    static final Conditions KEPT =
        new Conditions(
            "l.epoch = {2} and l.granted_until_ms <= {3} and l.expires_at > m.at",
            "m.timeline = 1 and m.system_identifier in"
                + " (select o.system_identifier from coatcheck.worker_lease_origin o)");
  }

  private LeaseStatements() {}
}
