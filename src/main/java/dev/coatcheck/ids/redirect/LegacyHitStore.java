package dev.coatcheck.ids.redirect;

import static dev.coatcheck.postgres.sql.schema.Tables.LEGACY_HIT;
import static dev.coatcheck.postgres.sql.schema.Tables.TYPE;
import static org.jooq.impl.DSL.val;

import dev.coatcheck.ids.redirect.LegacyHits.DayCount;
import dev.coatcheck.ids.redirect.LegacyHits.TypeDay;
import dev.coatcheck.postgres.sql.Database;
import java.time.LocalDate;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;

/** All SQL about the look-ups of legacy IDs. */
final class LegacyHitStore {
  private final Database database;

  LegacyHitStore(Database database) {
    this.database = database;
  }

  /**
   * Adds counts in the order of their keys, so that two instances don't wait for each other. Leaves
   * out deleted types, whose counts would fail those of all others.
   */
  void add(SequencedMap<TypeDay, Long> counts) {
    Integer[] types = counts.keySet().stream().map(TypeDay::typeNumber).toArray(Integer[]::new);
    LocalDate[] days = counts.keySet().stream().map(TypeDay::day).toArray(LocalDate[]::new);
    Long[] added = counts.values().toArray(Long[]::new);
    var _ =
        database.write(
            "legacy hits",
            sql ->
                sql.execute(
                    """
                    insert into {0} as hit (count, day, type_id)
                    select count, day, type_id
                      from unnest({1}, {2}, {3}) as added (count, day, type_id)
                     where exists (select from {4} t where t.type_id = added.type_id)
                     order by type_id, day
                    on conflict (type_id, day) do update set count = hit.count + excluded.count
                    """,
                    LEGACY_HIT, val(added), val(days), val(types), TYPE));
  }

  List<DayCount> of(int typeNumber, LocalDate first, LocalDate last) {
    return database.read(
        "legacy hits of a type",
        sql ->
            sql.select(LEGACY_HIT.DAY, LEGACY_HIT.COUNT)
                .from(LEGACY_HIT)
                .where(LEGACY_HIT.TYPE_ID.eq(typeNumber), LEGACY_HIT.DAY.between(first, last))
                .orderBy(LEGACY_HIT.DAY)
                .fetch(row -> new DayCount(row.value1(), row.value2())));
  }

  Map<Integer, List<DayCount>> ofAll(LocalDate first, LocalDate last) {
    return database.read(
        "legacy hits of all types",
        sql ->
            sql.select(LEGACY_HIT.TYPE_ID, LEGACY_HIT.DAY, LEGACY_HIT.COUNT)
                .from(LEGACY_HIT)
                .where(LEGACY_HIT.DAY.between(first, last))
                .orderBy(LEGACY_HIT.TYPE_ID, LEGACY_HIT.DAY)
                .fetchGroups(LEGACY_HIT.TYPE_ID, row -> new DayCount(row.value2(), row.value3())));
  }
}
