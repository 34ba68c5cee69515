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
 * {3} holder, or the holder's mark   {4} rest beyond the window   {5} lease   {6} window,
 * all in milliseconds   {7} workers that are never leased   {8} hash of the ID and {9} principal
 * of a lease over HTTP, or null
 * </pre>
 *
 * All holders have one window, the only row of {@code lease_window}.
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

  /** How long a row rests, by the longest window that any holder can have been granted. */
  private static final String REST =
      """
      , rest as materialized (
        select greatest(max(w.longest_ms), {6}) + {4} as ms from coatcheck.lease_window w)
      """;

  /** Whether the worker {@code l} is held, or may have unused keys of its last holder. */
  static final String IS_HELD = "(l.expires_at > m.at or l.granted_until_ms >= m.ms)";

  /** Whether it is held or rests. */
  static final String IS_TAKEN = "(" + IS_HELD + " or l.rest_until_ms > m.ms)";

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
               rest_until_ms = greatest(l.rest_until_ms, m.ms + r.ms)
          from moment m, rest r
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
          + REST
          + RESTED.formatted("true")
          + """
          , free as (
            select l.worker
              from coatcheck.worker_lease l, moment m
             where l.layout = {0} and l.worker between {1} and {2} and l.worker <> all ({7})
               and (l.timeline, l.system_identifier) = (m.timeline, m.system_identifier)
               and %s is not true
               and {6} = (select w.window_ms from coatcheck.lease_window w)
             order by random()
             limit 1
               for update of l skip locked)
          update coatcheck.worker_lease l
             set epoch = l.epoch + 1,
                 holder = {3},
                 expires_at = m.at + {5} * interval '1 millisecond',
                 granted_until_ms = m.ms + {6},
                 lease_hash = decode({8}, 'hex'),
                 principal = {9}
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
          + REST
          + RESTED.formatted(OWN_IS_STALE)
          + """
          update coatcheck.worker_lease l
             set granted_until_ms = greatest({3}, m.ms + coalesce(
                   (select w.window_ms from coatcheck.lease_window w), {6})),
                 expires_at = m.at + {5} * interval '1 millisecond',
                 rest_until_ms =
                   case when (l.timeline, l.system_identifier) = (m.timeline, m.system_identifier)
                        then l.rest_until_ms
                        else greatest(l.rest_until_ms, m.ms + r.ms) end,
                 timeline = m.timeline,
                 system_identifier = m.system_identifier
            from moment m, rest r
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
          + REST
          + """
          insert into coatcheck.worker_lease
            (layout, worker, timeline, system_identifier, rest_until_ms)
          select {0}, n, m.timeline, m.system_identifier,
                 case when %s then null else m.ms + r.ms end
            from generate_series({1}::int, {2}::int) n, moment m, rest r
           where n <> all ({7})
              on conflict do nothing
          """;

  /** The first holder's window is that of all. */
  static final String SET_WINDOW =
      """
      insert into coatcheck.lease_window (window_ms, longest_ms) values ({6}, {6})
          on conflict do nothing
      """;

  static final String WINDOW = "select w.window_ms from coatcheck.lease_window w";

  /** Who holds what, summed up by holder, and when the first may be free. */
  static final String NONE_FREE =
      MOMENT
          + """
          select l.holder, l.expires_at > m.at is true as held, count(*) as workers,
                 min(greatest(l.granted_until_ms + 1, l.rest_until_ms,
                              ceil(extract(epoch from l.expires_at) * 1000)::bigint) - m.ms)
                   as free_in_ms
            from coatcheck.worker_lease l, moment m
           where l.layout = {0} and l.worker between {1} and {2} and l.worker <> all ({7})
             and %s
           group by l.holder, held
           order by l.holder nulls first, held
          """
              .formatted(IS_TAKEN);

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
