package dev.coatcheck.migrate.table;

import dev.coatcheck.bulk.load.LegacyKeyWriter;
import dev.coatcheck.bulk.load.LegacyKeyWriter.LegacyKey;
import dev.coatcheck.migrate.source.SourceSession;
import dev.coatcheck.migrate.source.SourceSession.Name;
import dev.coatcheck.migrate.source.SqlTemplate;
import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.migrate.source.TargetSql;
import dev.coatcheck.postgres.connection.SqlState;
import dev.coatcheck.postgres.sql.Database;
import dev.coatcheck.postgres.sql.PlainSql;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.OptionalLong;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jooq.DSLContext;
import org.jooq.exception.DataAccessException;

/** All SQL of the outbox. */
final class OutboxStore {
  private static final List<String> TABLES = List.of("<outbox_a>", "<outbox_b>");

  private static final SqlTemplate TAKE = SqlTemplate.file(OutboxStore.class, "take.sql");
  private static final SqlTemplate WAITING =
      SqlTemplate.file(OutboxStore.class, "waiting-keys.sql");
  private static final SqlTemplate EMPTY = SqlTemplate.file(OutboxStore.class, "empty.sql");
  private static final SqlTemplate LAG = SqlTemplate.file(OutboxStore.class, "lag.sql");

  private final Database source;
  private final Database gateway;
  private final boolean isBeside;
  private final TargetSql names;
  private final LegacyKeyWriter mappings;

  OutboxStore(
      Database source,
      Database gateway,
      boolean isBeside,
      Target target,
      LegacyKeyWriter mappings) {
    this.source = SourceSession.named(source, Name.OUTBOX, target);
    this.gateway = gateway;
    this.isBeside = isBeside;
    this.names = new TargetSql(target);
    this.mappings = mappings;
  }

  /** Empty if there is no outbox. */
  Outbox.Drained take(int entriesMax, boolean careful) {
    return ifThere(
        () -> source.write("outbox", sql -> take(sql, entriesMax, careful)),
        new Outbox.Drained(0, List.of()));
  }

  private Outbox.Drained take(DSLContext sql, int entriesMax, boolean careful) {
    List<Entry> taken =
        PlainSql.rows(sql, names.fill(TAKE), OutboxStore::entry, entriesMax, entriesMax);
    taken.sort(Comparator.comparingLong(Entry::key));
    List<LegacyKey> refused =
        new ArrayList<>(
            taken.stream().flatMap(Entry::legacyKey).filter(key -> key.legacy() <= 0).toList());
    if (!taken.isEmpty()) {
      List<LegacyKey> left =
          isBeside
              ? write(sql, taken, careful)
              : gateway.write("outbox", own -> write(own, taken, careful));
      refused.addAll(left);
    }
    return new Outbox.Drained(taken.size(), refused);
  }

  /** Relays the entries of some keys, and leaves them for {@link #take}. */
  void publish(List<Long> keys) {
    Long[] wanted = keys.toArray(Long[]::new);
    List<Entry> waiting =
        ifThere(
            () ->
                source.read(
                    "outbox",
                    sql ->
                        PlainSql.rows(
                            sql, names.fill(WAITING), OutboxStore::entry, (Object) wanted)),
            List.of());
    if (!waiting.isEmpty()) {
      List<LegacyKey> _ = gateway.write("outbox", own -> write(own, waiting, true));
    }
  }

  private static Entry entry(ResultSet row) throws SQLException {
    return new Entry(PlainSql.optionalLong(row, 1), row.getLong(2));
  }

  /**
   * An inserted row.
   *
   * @param legacy empty once the table has no legacy IDs
   */
  private record Entry(OptionalLong legacy, long key) {
    Stream<LegacyKey> legacyKey() {
      return legacy.stream().mapToObj(id -> new LegacyKey(id, key));
    }
  }

  private List<LegacyKey> write(DSLContext sql, List<Entry> taken, boolean careful) {
    List<Long> keys =
        taken.stream().filter(entry -> entry.legacy().isEmpty()).map(Entry::key).toList();
    List<LegacyKey> legacyKeys =
        taken.stream()
            .flatMap(Entry::legacyKey)
            .distinct()
            .filter(key -> key.legacy() > 0)
            .toList();
    if (!keys.isEmpty()) {
      mappings.insertKeys(sql, keys, careful);
    }
    return legacyKeys.isEmpty() ? List.of() : mappings.insert(sql, legacyKeys, careful);
  }

  /** Makes the triggers write to the other table; truncates the first one if it is unused. */
  void rotate() {
    long before =
        source.write(
            "outbox",
            sql ->
                PlainSql.row(sql, names.fill("select nextval(<'switch'>) - 1"), r -> r.getLong(1)));
    String left = TABLES.get((int) (before % 2));
    source.write(
        "outbox",
        sql -> {
          PlainSql.execute(sql, "select set_config('lock_timeout', '50ms', true)");
          names.fillAll(EMPTY.with("outbox", left)).forEach(text -> PlainSql.execute(sql, text));
          return true;
        });
  }

  Outbox.Lag lag() {
    return ifThere(
        () ->
            source.read(
                "outbox",
                sql ->
                    PlainSql.row(
                        sql,
                        names.fill(LAG),
                        row -> new Outbox.Lag(row.getLong(1), Math.max(0, row.getLong(2))))),
        new Outbox.Lag(0, 0));
  }

  /** A check for its existence would be outdated by the next statement. */
  private static <T> T ifThere(Supplier<T> work, T otherwise) {
    try {
      return work.get();
    } catch (DataAccessException refused) {
      if (SqlState.isUndefinedTable(refused)) {
        return otherwise;
      }
      throw refused;
    }
  }
}
