package dev.coatcheck.migrate.backfill;

import dev.coatcheck.bulk.load.LegacyKeyTable.LegacyKey;
import dev.coatcheck.migrate.source.TableFinder;
import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.migrate.source.TargetSql;
import dev.coatcheck.postgres.sql.Database;
import dev.coatcheck.postgres.sql.DatabaseUnavailable;
import dev.coatcheck.postgres.sql.PlainSql;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.jooq.DSLContext;
import org.jooq.exception.DataAccessException;

/** Reads one row, and fills it. */
final class FillAheadStore {
  private static final String READ = "select t.snowflake_id from <table> t where t.<id> = ?";

  private static final String LOCK = READ + " for no key update of t";

  private static final String KEY =
      """
      with place as (
        select greatest(c.last_place,
                 (select max(e.ms) << 12
                    from (select <created_ms> - <epoch> as ms from <table> t
                           where t.<id> > c.last_id and t.<id> <= ?) as e
                   where e.ms between 0 and c.t0_ms - 60000)) + (? - c.last_id) as place, c.t0_ms
          from <schema>.checkpoint c where c.run = <run> and c.last_id < ?)
      select coalesce((select key from <archive> where legacy = ?),
               ((p.place >> 12) << 22) | (1022::bigint << 12) | (p.place & 4095))
        from place p where p.place >> 12 < p.t0_ms\
      """;

  private static final String ANNOUNCE = "insert into <outbox_a> (legacy, key) values (?, ?)";

  private final Database source;
  private final Target target;
  private final TargetSql names;

  FillAheadStore(Database source, Target target) {
    this.source = source;
    this.target = target;
    this.names = new TargetSql(target);
  }

  /** A row's key; null in the value: it has none yet. */
  private record Row(long key, boolean isFilled) {}

  /** Looks again if the table was renamed a moment ago. */
  OptionalLong find(long legacy) {
    try {
      return findByNames(legacy);
    } catch (DataAccessException refused) {
      Optional<Target> now = TableFinder.now(source, target).filter(it -> !it.equals(target));
      if (now.isEmpty()) {
        throw refused;
      }
      return new FillAheadStore(source, now.get()).findByNames(legacy);
    }
  }

  private OptionalLong findByNames(long legacy) {
    List<Row> rows = source.read("source row", sql -> row(sql, READ, legacy));
    if (rows.isEmpty()) {
      return OptionalLong.empty();
    }
    return rows.getFirst().isFilled()
        ? OptionalLong.of(rows.getFirst().key())
        : source.write("fill ahead", sql -> fill(sql, legacy));
  }

  private OptionalLong fill(DSLContext sql, long legacy) {
    PlainSql.execute(
        sql,
        """
        select set_config('lock_timeout', least(250, greatest(1, floor(extract(epoch from
                 current_setting('deadlock_timeout')::interval) * 500)))::int || 'ms', true),
               set_config('statement_timeout', '1s', true),
               set_config('row_security', 'off', true)\
        """);
    List<Row> rows = row(sql, LOCK, legacy);
    if (rows.isEmpty()) {
      return OptionalLong.empty();
    }
    if (rows.getFirst().isFilled()) {
      return OptionalLong.of(rows.getFirst().key());
    }
    long key =
        PlainSql.rows(sql, names.fill(KEY), row -> row.getLong(1), legacy, legacy, legacy, legacy)
            .stream()
            .findFirst()
            .flatMap(made -> written(sql, new LegacyKey(legacy, made)))
            .orElseThrow(() -> new DatabaseUnavailable("the key of a row that was set aside"));
    PlainSql.execute(sql, names.fill(ANNOUNCE), legacy, key);
    return OptionalLong.of(key);
  }

  private Optional<Long> written(DSLContext sql, LegacyKey row) {
    return RowKeyTable.write(sql, names, List.of(row)).stream().findFirst().map(LegacyKey::key);
  }

  private List<Row> row(DSLContext sql, String query, long legacy) {
    return PlainSql.rows(
        sql,
        names.fill(query),
        row -> {
          long key = row.getLong(1);
          return new Row(key, !row.wasNull());
        },
        legacy);
  }
}
