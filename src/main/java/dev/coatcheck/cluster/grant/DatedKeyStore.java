package dev.coatcheck.cluster.grant;

import static java.util.Objects.requireNonNull;

import dev.coatcheck.postgres.connection.Deadline;
import dev.coatcheck.postgres.sql.Database;
import dev.coatcheck.postgres.sql.PlainSql;
import java.time.Duration;
import java.util.List;
import java.util.SortedMap;

/** Counts the keys that were granted for each millisecond of a layout. */
final class DatedKeyStore {
  /** For an import, which has no deadline and may ask for 16,384 milliseconds at once. */
  private static final Duration ANSWER_MAX = Duration.ofSeconds(5);

  /**
   * One statement, so that what it grants is committed before it is used. Sorted, so that two of
   * them wait for each other instead of making a deadlock. A statement that waited may have read an
   * older fence than the row was written under: an advance never falls.
   */
  private static final String GRANT =
      """
      insert into coatcheck.dated_key as d (layout, millis, granted, advance)
      select ?, wanted.millis, wanted.keys + f.dated_advance, f.dated_advance
        from rows from (unnest(?::bigint[]), unnest(?::bigint[])) as wanted (millis, keys),
             coatcheck.key_fence f
       where %s
       order by wanted.millis
          on conflict (layout, millis) do update
             set granted = d.granted + greatest(excluded.advance - d.advance, 0)
                           + (excluded.granted - excluded.advance),
                 advance = greatest(excluded.advance, d.advance)
      returning d.millis, d.granted
      """
          .formatted(FenceTable.IS_OPEN);

  private final Database database;

  DatedKeyStore(Database database) {
    this.database = database;
  }

  /** {@code count} keys of a millisecond from number {@code first} on, counted from 0. */
  record Grant(long millis, long first, int count) {}

  /**
   * Grants keys, each number of a millisecond at most once.
   *
   * @param wanted how many keys by millisecond, not empty
   * @return a grant for each millisecond; none behind the fence
   * @throws dev.coatcheck.postgres.sql.DatabaseUnavailable if the outcome is unknown: the numbers
   *     are lost then, and never granted again
   */
  List<Grant> grant(String layout, SortedMap<Long, Integer> wanted) {
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
                            row -> granted(row.getLong(1), row.getLong(2), wanted),
                            layout,
                            millis,
                            keys)));
  }

  private static Grant granted(long millis, long end, SortedMap<Long, Integer> wanted) {
    int count = requireNonNull(wanted.get(millis));
    return new Grant(millis, end - count, count);
  }
}
