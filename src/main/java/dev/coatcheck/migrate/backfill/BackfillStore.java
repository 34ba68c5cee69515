package dev.coatcheck.migrate.backfill;

import dev.coatcheck.bulk.load.LegacyKeyTable;
import dev.coatcheck.migrate.source.FenceLost;
import dev.coatcheck.migrate.source.ObjectsGone;
import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.migrate.source.TargetSql;
import dev.coatcheck.postgres.sql.PlainSql;
import dev.coatcheck.postgres.sql.Session;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.jooq.DSLContext;

/** All SQL of the backfill. A batch and the checkpoint behind it are one transaction. */
final class BackfillStore {
  private static final String ADVANCE =
      """
      update <schema>.checkpoint
         set last_id = greatest(last_id, ?), last_place = greatest(last_place, ?),
             rows_done = rows_done + ?
       where run = <run> and fence = ? and status = 'running'\
      """;

  private static final String READ =
      """
      select high_id, t0_ms, first_place, last_place, last_id, rows_done
        from <schema>.checkpoint where run = <run>\
      """;

  /** By {@link Backfill#KEYS}'s reckoning a place never lies further ahead than this. */
  private static final String RESERVE =
      """
      select greatest(?, coalesce(max(c.ms) << 12, 0)) + (? - ?)
        from (select <created_ms> - <epoch> as ms from <table> t where t.<id> > ? and t.<id> <= ?) as c
       where c.ms between 0 and ? - 60000\
      """;

  private static final String UPTO =
      """
      select max(w.id) from (select t.<id>::bigint as id from <table> t
        where t.<id> > ? and t.<id> <= ? order by t.<id> limit ?) as w\
      """;

  private static final String OPEN =
      """
      select t.<id>::bigint from <table> t
       where t.snowflake_id is null and t.<id> > ? order by t.<id> limit 1\
      """;

  private static final String OUTBOX =
      "insert into <outbox_a> (legacy, key) select * from unnest(?::bigint[], ?::bigint[])";

  private final Session session;
  private final TargetSql names;
  private final Optional<LegacyKeyTable> mappings;

  /**
   * Fills one table.
   *
   * @param mappings if they lie in the same database as the rows; empty: the outbox brings them
   */
  BackfillStore(Session session, Target target, Optional<LegacyKeyTable> mappings) {
    this.session = session;
    this.names = new TargetSql(target);
    this.mappings = mappings;
  }

  /** What a batch did. */
  record Filled(int rows, long uptoId, long lastPlace) {}

  /** The range of one batch, and where its places begin. */
  record Range(long afterId, long lastId, long afterPlace, int rowsMax) {}

  /** Bounds of one transaction, in milliseconds. */
  record Bounds(int lockMillis, int statementMillis) {}

  Checkpoint checkpoint() {
    return session.transaction("checkpoint", this::read);
  }

  /**
   * Fills a batch and moves the checkpoint.
   *
   * @param careful whether some of the mappings may be there already
   * @throws FenceLost if another runner has taken over
   */
  Filled fill(Range range, long fence, boolean careful, Bounds bounds) {
    return session.transaction(
        "backfill",
        bounds.statementMillis(),
        sql -> {
          bound(sql, bounds);
          Checkpoint before = read(sql);
          record Row(long legacy, long key, long place, long upto, boolean isRow) {}
          List<Row> rows =
              PlainSql.rows(
                  sql,
                  names.fill(Backfill.KEYS),
                  row -> {
                    long legacy = row.getLong(1);
                    boolean isRow = !row.wasNull();
                    return new Row(legacy, row.getLong(2), row.getLong(3), row.getLong(4), isRow);
                  },
                  range.afterId(),
                  range.lastId(),
                  range.rowsMax(),
                  range.afterId(),
                  before.t0Millis(),
                  range.afterPlace());
          List<LegacyKeyTable.LegacyKey> keyed =
              rows.stream()
                  .filter(Row::isRow)
                  .map(row -> new LegacyKeyTable.LegacyKey(row.legacy(), row.key()))
                  .toList();
          long place = Math.max(range.afterPlace(), rows.getFirst().place());
          long upto = rows.getFirst().upto() == 0 ? range.lastId() : rows.getFirst().upto();
          if (place >> 12 >= before.t0Millis()) {
            throw new IllegalStateException(
                "the keys of old rows would reach the time of the triggers: place=" + place);
          }
          List<LegacyKeyTable.LegacyKey> filled =
              keyed.isEmpty() ? List.of() : RowKeyTable.write(sql, names, keyed);
          deliver(sql, filled, careful);
          advance(sql, upto, place, filled.size(), fence);
          return new Filled(filled.size(), upto, place);
        });
  }

  /**
   * Sets a range aside: keeps places free that are enough for whatever it holds, and goes on behind
   * it.
   */
  void skip(Range range, long fence) {
    session.transaction(
        "backfill",
        sql -> {
          Checkpoint before = read(sql);
          long place =
              PlainSql.rows(
                      sql,
                      names.fill(RESERVE),
                      row -> row.getLong(1),
                      range.afterPlace(),
                      range.lastId(),
                      range.afterId(),
                      range.afterId(),
                      range.lastId(),
                      before.t0Millis())
                  .getFirst();
          advance(sql, range.lastId(), Math.max(place, range.afterPlace()), 0, fence);
          return true;
        });
  }

  /** Where a batch of so many rows would end. */
  OptionalLong upto(long afterId, long lastId, int rows) {
    return session.transaction(
        "backfill",
        sql ->
            first(PlainSql.rows(sql, names.fill(UPTO), BackfillStore::id, afterId, lastId, rows)));
  }

  /** The first row without a key after an ID. */
  OptionalLong open(long afterId) {
    return session.longTransaction(
        "backfill", sql -> first(PlainSql.rows(sql, names.fill(OPEN), BackfillStore::id, afterId)));
  }

  private static OptionalLong id(ResultSet row) throws SQLException {
    Long id = PlainSql.longOrNull(row, 1);
    return id == null ? OptionalLong.empty() : OptionalLong.of(id);
  }

  private static OptionalLong first(List<OptionalLong> rows) {
    return rows.isEmpty() ? OptionalLong.empty() : rows.getFirst();
  }

  private void deliver(DSLContext sql, List<LegacyKeyTable.LegacyKey> filled, boolean careful) {
    if (filled.isEmpty()) {
      return;
    }
    if (mappings.isPresent()) {
      mappings.get().insert(sql, filled, careful);
    } else {
      PlainSql.execute(
          sql,
          names.fill(OUTBOX),
          filled.stream().map(LegacyKeyTable.LegacyKey::legacy).toArray(Long[]::new),
          filled.stream().map(LegacyKeyTable.LegacyKey::key).toArray(Long[]::new));
    }
  }

  private void advance(DSLContext sql, long lastId, long lastPlace, int rows, long fence) {
    if (PlainSql.execute(sql, names.fill(ADVANCE), lastId, lastPlace, rows, fence) != 1) {
      read(sql); // Fails if the row itself is gone.
      throw new FenceLost();
    }
  }

  private Checkpoint read(DSLContext sql) {
    List<Checkpoint> rows =
        PlainSql.rows(
            sql,
            names.fill(READ),
            row ->
                new Checkpoint(
                    row.getLong(1),
                    row.getLong(2),
                    row.getLong(3),
                    row.getLong(4),
                    row.getLong(5),
                    row.getLong(6)));
    if (rows.isEmpty()) {
      throw ObjectsGone.checkpoint();
    }
    return rows.getFirst();
  }

  /** A wait for a row ends before the server would look for a deadlock and end the writer. */
  private static void bound(DSLContext sql, Bounds bounds) {
    PlainSql.execute(
        sql,
        """
        select set_config('lock_timeout', least(?, greatest(1, floor(extract(epoch from
                 current_setting('deadlock_timeout')::interval) * 500)))::int || 'ms', true),
               set_config('statement_timeout', ?, true), set_config('row_security', 'off', true)\
        """,
        bounds.lockMillis(),
        bounds.statementMillis() + "ms");
  }
}
