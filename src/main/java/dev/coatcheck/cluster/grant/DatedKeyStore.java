package dev.coatcheck.cluster.grant;

import static java.util.Objects.requireNonNull;

import dev.coatcheck.core.key.KeyOutcome;
import dev.coatcheck.postgres.connection.Deadline;
import dev.coatcheck.postgres.sql.Database;
import dev.coatcheck.postgres.sql.PlainSql;
import java.time.Duration;
import java.util.List;
import java.util.SortedMap;

/** Counts the granted keys per millisecond of a worker of a layout. */
final class DatedKeyStore {
  /** For an import, which has no deadline and may ask for 16,384 milliseconds at once. */
  private static final Duration ANSWER_MAX = Duration.ofSeconds(5);

  /** The dated worker in use, if the fence is open: the fence holds its ordinal. */
  private static final String WORKER =
      """
      select (?::int[])[f.dated_worker] as worker from coatcheck.key_fence f where %s
      """
          .formatted(FenceTable.IS_OPEN);

  /**
   * One statement, so that a grant is committed before it is used. Sorted, so that two statements
   * wait for each other instead of causing a deadlock.
   */
  private static final String GRANT =
      """
      with fence as materialized (%s)
      insert into coatcheck.dated_key as d (layout, worker, millis, granted)
      select ?, fence.worker, wanted.millis, wanted.keys
        from fence, rows from (unnest(?::bigint[]), unnest(?::bigint[])) as wanted (millis, keys)
       where fence.worker is not null
       order by wanted.millis
          on conflict (layout, worker, millis) do update
             set granted = d.granted + excluded.granted
      returning d.worker, d.millis, d.granted
      """
          .formatted(WORKER);

  private final Database database;

  DatedKeyStore(Database database) {
    this.database = database;
  }

  /**
   * {@code count} keys of a worker and a millisecond, starting at number {@code first}, which
   * counts from 0.
   */
  record Grant(int worker, long millis, long first, int count) {}

  /**
   * Grants keys, each number of a worker's millisecond at most once.
   *
   * @param workers the dated workers of the layout to use, in order
   * @param wanted how many keys per millisecond, not empty
   * @return a grant for each millisecond; empty if there is a reason in {@link #whyNone}
   * @throws dev.coatcheck.postgres.sql.DatabaseUnavailable if the outcome is unknown; the numbers
   *     are then lost and never granted again
   */
  List<Grant> grant(String layout, List<Integer> workers, SortedMap<Long, Integer> wanted) {
    Long[] millis = wanted.keySet().toArray(Long[]::new);
    Long[] keys = wanted.values().stream().map(Integer::longValue).toArray(Long[]::new);
    return Deadline.after(ANSWER_MAX)
        .orEarlier()
        .call(
            () ->
                database.writeAlone(
                    "dated keys",
                    sql ->
                        PlainSql.rows(
                            sql,
                            GRANT,
                            row -> granted(row.getInt(1), row.getLong(2), row.getLong(3), wanted),
                            workers.toArray(Integer[]::new),
                            layout,
                            millis,
                            keys)));
  }

  private static Grant granted(int worker, long millis, long end, SortedMap<Long, Integer> wanted) {
    int count = requireNonNull(wanted.get(millis));
    return new Grant(worker, millis, end - count, count);
  }

  /** Why nothing is granted: the fence is closed, or no worker is left. */
  KeyOutcome.NoKeys whyNone(String layout, List<Integer> workers) {
    boolean isOpen =
        !database
            .read(
                "dated keys",
                sql ->
                    PlainSql.rows(sql, WORKER, _ -> true, (Object) workers.toArray(Integer[]::new)))
            .isEmpty();
    return isOpen ? new KeyOutcome.NoDatedWorkerLeft(layout) : new KeyOutcome.Fenced();
  }
}
