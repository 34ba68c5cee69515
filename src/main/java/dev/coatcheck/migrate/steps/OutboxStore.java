package dev.coatcheck.migrate.steps;

import dev.coatcheck.bulk.load.LegacyKeyTable;
import dev.coatcheck.bulk.load.LegacyKeyTable.LegacyKey;
import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.migrate.source.TargetSql;
import dev.coatcheck.postgres.sql.Database;
import dev.coatcheck.postgres.sql.PlainSql;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Supplier;
import org.jooq.DSLContext;
import org.jooq.exception.DataAccessException;

/** All SQL of the outbox. */
final class OutboxStore {
  private static final List<String> TABLES = List.of("<outbox_a>", "<outbox_b>");

  private static final String UNDEFINED_TABLE = "42P01";

  private static final String TAKE =
      """
      delete from <outbox> where n in (
        select n from <outbox> order by n limit ? for update skip locked)
      returning legacy, key\
      """;

  private static final String LAG =
      """
      select count(*), coalesce(floor(extract(epoch from clock_timestamp()))::bigint
               - (((min(key) filter (where (key >> 12) & 1023 = 1023)) >> 22) + <epoch>) / 1000, 0)
        from (select key from <outbox_a> union all select key from <outbox_b>) as waiting\
      """;

  private final Database source;
  private final Database gateway;
  private final boolean isBeside;
  private final TargetSql names;
  private final LegacyKeyTable mappings;

  OutboxStore(
      Database source, Database gateway, boolean isBeside, Target target, LegacyKeyTable mappings) {
    this.source = source;
    this.gateway = gateway;
    this.isBeside = isBeside;
    this.names = new TargetSql(target);
    this.mappings = mappings;
  }

  /** Nothing if there is no outbox, or not any more. */
  Outbox.Drained take(int entriesMax, boolean careful) {
    return ifThere(
        () -> source.write("outbox", sql -> take(sql, entriesMax, careful)),
        new Outbox.Drained(0, List.of()));
  }

  private Outbox.Drained take(DSLContext sql, int entriesMax, boolean careful) {
    List<LegacyKey> taken = new ArrayList<>();
    for (String table : TABLES) {
      taken.addAll(
          PlainSql.rows(
              sql,
              names.fill(TAKE.replace("<outbox>", table)),
              row -> new LegacyKey(row.getLong(1), row.getLong(2)),
              entriesMax - taken.size()));
    }
    taken.sort(Comparator.comparingLong(LegacyKey::key));
    List<LegacyKey> distinct =
        taken.stream().distinct().filter(entry -> entry.legacy() > 0).toList();
    List<LegacyKey> refused =
        new ArrayList<>(taken.stream().filter(entry -> entry.legacy() <= 0).toList());
    if (!distinct.isEmpty()) {
      refused.addAll(write(sql, distinct, careful));
    }
    return new Outbox.Drained(taken.size(), refused);
  }

  private List<LegacyKey> write(DSLContext sql, List<LegacyKey> taken, boolean careful) {
    return isBeside
        ? mappings.insert(sql, taken, careful)
        : gateway.write("outbox", own -> mappings.insert(own, taken, careful));
  }

  /** Lets the triggers write to the other table, and empties the first if nobody is at it. */
  void rotate() {
    long before =
        source.write(
            "outbox",
            sql ->
                PlainSql.rows(
                        sql, names.fill("select nextval(<switch_text>) - 1"), r -> r.getLong(1))
                    .getFirst());
    String left = names.fill(TABLES.get((int) (before % 2)));
    source.write(
        "outbox",
        sql -> {
          PlainSql.execute(sql, "select set_config('lock_timeout', '50ms', true)");
          PlainSql.execute(sql, "lock table " + left + " in access exclusive mode");
          if (PlainSql.isTrue(sql, "select not exists (select from " + left + ")")) {
            PlainSql.execute(sql, "truncate " + left);
          }
          return true;
        });
  }

  Outbox.Lag lag() {
    return ifThere(
        () ->
            source.read(
                "outbox",
                sql ->
                    PlainSql.rows(
                            sql,
                            names.fill(LAG),
                            row -> new Outbox.Lag(row.getLong(1), Math.max(0, row.getLong(2))))
                        .getFirst()),
        new Outbox.Lag(0, 0));
  }

  /** A look at whether it is there would be out of date by the next statement. */
  private static <T> T ifThere(Supplier<T> work, T otherwise) {
    try {
      return work.get();
    } catch (DataAccessException refused) {
      if (UNDEFINED_TABLE.equals(refused.sqlState())) {
        return otherwise;
      }
      throw refused;
    }
  }
}
