package dev.coatcheck.ids.redirect;

import static dev.coatcheck.postgres.sql.schema.Tables.LEGACY_CALLER;
import static dev.coatcheck.postgres.sql.schema.Tables.LEGACY_CALLER_SUM;
import static dev.coatcheck.postgres.sql.schema.Tables.TYPE;
import static org.jooq.impl.DSL.field;
import static org.jooq.impl.DSL.val;

import dev.coatcheck.ids.redirect.LegacyCallers.Caller;
import dev.coatcheck.ids.redirect.LegacyCallers.Callers;
import dev.coatcheck.ids.redirect.LegacyHits.TypeDay;
import dev.coatcheck.postgres.sql.Database;
import dev.coatcheck.postgres.sql.Unnest;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jooq.DSLContext;
import org.jooq.Records;

/**
 * All SQL about the callers of legacy IDs. The rows of a type, a day and a kind are a sketch too: a
 * caller that comes when all rows are taken gets a row with the least count of all rows as its
 * error, and the rows with the least counts make room.
 */
final class LegacyCallerStore {
  private final Database database;

  LegacyCallerStore(Database database) {
    this.database = database;
  }

  private record Row(String kind, SpaceSaving.Count caller) {}

  private record Sum(String kind, long count, long missed) {}

  private record Found(String kind, long allCount, String caller, long count, long error) {}

  /** Adds the counts of an instance; leaves them out if the type was deleted. */
  void add(TypeDay key, Map<CallerKind, SpaceSaving> sketches) {
    List<Sum> sums = new ArrayList<>();
    List<Row> rows = new ArrayList<>();
    sketches.forEach(
        (kind, sketch) -> {
          sums.add(new Sum(kind.wireName(), sketch.total(), sketch.missed()));
          sketch.counts().forEach(count -> rows.add(new Row(kind.wireName(), count)));
        });
    var _ =
        database.write(
            "legacy callers",
            sql -> {
              if (addSums(sql, key, sums) > 0) {
                addCallers(sql, key, rows);
                prune(sql, key);
              }
              return rows.size();
            });
  }

  /** Locks the rows of the kinds, in one order. */
  private static int addSums(DSLContext sql, TypeDay key, List<Sum> sums) {
    return sql.execute(
        """
        insert into {0} as known (count, day, kind, missed, type_id)
        select count, {1}, kind, missed, {2}
          from unnest({3}, {4}, {5}) as added (kind, count, missed)
         where exists (select from {6} t where t.type_id = {2})
         order by kind
        on conflict (type_id, day, kind)
        do update set count = known.count + excluded.count, missed = known.missed + excluded.missed
        """,
        LEGACY_CALLER_SUM,
        val(key.day()),
        val(key.typeNumber()),
        Unnest.texts(sums, Sum::kind),
        Unnest.column(sums, Sum::count, Long[]::new),
        Unnest.column(sums, Sum::missed, Long[]::new),
        TYPE);
  }

  private static void addCallers(DSLContext sql, TypeDay key, List<Row> rows) {
    sql.execute(
        """
        with full_kind as materialized (
          select kind, min(count) as least from {0} where type_id = {2} and day = {1}
           group by kind having count(*) >= {7}),
        counted as (
          select added.*,
                 case when present.kind is null then coalesce(full_kind.least, 0) else 0 end as least
            from unnest({3}, {4}, {5}, {6}) as added (kind, caller, count, error)
            left join full_kind on full_kind.kind = added.kind
            left join {0} as present on present.type_id = {2} and present.day = {1}
                                    and present.kind = added.kind
                                    and present.caller = added.caller)
        insert into {0} as known (caller, count, day, error, kind, type_id)
        select caller, count + least, {1}, error + least, kind, {2} from counted
        on conflict (type_id, day, kind, caller)
        do update set count = known.count + excluded.count, error = known.error + excluded.error
        """,
        LEGACY_CALLER,
        val(key.day()),
        val(key.typeNumber()),
        Unnest.texts(rows, Row::kind),
        Unnest.texts(rows, row -> row.caller().text()),
        Unnest.column(rows, row -> row.caller().count(), Long[]::new),
        Unnest.column(rows, row -> row.caller().error(), Long[]::new),
        val(LegacyCallers.ROWS_MAX));
  }

  /** The rows have no other writer, because their sums are locked. */
  private static void prune(DSLContext sql, TypeDay key) {
    sql.execute(
        """
        delete from {0}
         where ctid = any (array(
           select row from (
             select ctid as row,
                    row_number() over (partition by kind order by count desc, caller) as place
               from {0} where type_id = {1} and day = {2}) as ranked
            where place > {3}))
        """,
        LEGACY_CALLER, val(key.typeNumber()), val(key.day()), val(LegacyCallers.ROWS_MAX));
  }

  /**
   * Adds up the days. On a day on which a caller has no row it may have had as many look-ups as the
   * least row, if all rows are taken.
   */
  List<Callers> of(
      int typeNumber, LocalDate first, LocalDate last, Set<CallerKind> kinds, int limit) {
    List<Found> found =
        database.read(
            "legacy callers of a type",
            sql ->
                sql.resultQuery(
                        """
                        with day as (
                          select s.kind, s.day, s.count, s.missed,
                                 coalesce((select min(c.count) from {0} c
                                            where c.type_id = s.type_id and c.day = s.day
                                              and c.kind = s.kind
                                           having count(*) >= {6}), 0) as least
                            from {1} s
                           where s.type_id = {2} and s.day between {3} and {4}
                             and s.kind = any ({5})),
                        kind as (
                          select kind, sum(count) as count, sum(missed + least) as missed
                            from day group by kind),
                        caller as materialized (
                          select c.kind, c.caller, sum(c.count) as count,
                                 sum(c.error - day.least) as error,
                                 row_number() over (partition by c.kind
                                                    order by sum(c.count) desc, c.caller) as place
                            from {0} c join day on day.kind = c.kind and day.day = c.day
                           where c.type_id = {2}
                           group by c.kind, c.caller)
                        select kind.kind, kind.count::bigint as all_count, caller.caller,
                               caller.count::bigint as count,
                               (caller.error + kind.missed)::bigint as error
                          from kind join caller on caller.kind = kind.kind and caller.place <= {7}
                         order by caller.place
                        """,
                        LEGACY_CALLER,
                        LEGACY_CALLER_SUM,
                        val(typeNumber),
                        val(first),
                        val(last),
                        val(kinds.stream().map(CallerKind::wireName).toArray(String[]::new)),
                        val(LegacyCallers.ROWS_MAX),
                        val(limit))
                    .coerce(
                        field("kind", String.class),
                        field("all_count", Long.class),
                        field("caller", String.class),
                        field("count", Long.class),
                        field("error", Long.class))
                    .fetch(Records.mapping(Found::new)));
    return kinds.stream().sorted().map(kind -> callers(kind, found)).toList();
  }

  private static Callers callers(CallerKind kind, List<Found> all) {
    List<Found> found = all.stream().filter(row -> row.kind.equals(kind.wireName())).toList();
    return new Callers(
        kind,
        found.isEmpty() ? 0 : found.getFirst().allCount,
        found.stream().map(row -> new Caller(row.caller, row.count, row.error)).toList());
  }
}
