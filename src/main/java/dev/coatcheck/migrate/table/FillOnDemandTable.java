package dev.coatcheck.migrate.table;

import dev.coatcheck.bulk.load.LegacyKeyWriter.LegacyKey;
import dev.coatcheck.migrate.source.CatalogTable;
import dev.coatcheck.migrate.source.SourceSession;
import dev.coatcheck.migrate.source.SourceSession.Name;
import dev.coatcheck.migrate.source.SqlTemplate;
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

/**
 * Fills one row on demand: finds the key for a legacy ID that a caller asks for. If the backfill
 * has not reached the row, the row gets its key at once: the highest position that it can have,
 * which doesn't depend on earlier rows. Earlier rows keep the positions below.
 */
public final class FillOnDemandTable {
  private static final String READ = "select t.<key> from <table> t where t.<id> = ?";

  private static final String ARCHIVED = "select a.key from <archive> a where a.legacy = ?";

  private static final SqlTemplate NEAR = SqlTemplate.file(FillOnDemandTable.class, "near.sql");
  private static final SqlTemplate LOCK = SqlTemplate.file(FillOnDemandTable.class, "lock-row.sql");
  private static final SqlTemplate HOLD =
      SqlTemplate.file(FillOnDemandTable.class, "hold-shared.sql");
  private static final SqlTemplate ARCHIVE =
      SqlTemplate.file(FillOnDemandTable.class, "archive-row.sql");
  private static final SqlTemplate HIGHEST_POSITION = KeyTimes.template("ahead.sql");

  /** The existing key, if the row was set aside or was part of an earlier run. */
  private static final String KEPT =
      """
      select coalesce((select a.key from <archive> a where a.legacy = ?),
                      (select s.key from <schema>.set_aside s where s.run = <run> and s.legacy = ?))\
      """;

  private static final int STATEMENT_MILLIS = 1_000;

  /** All rows in between are read, at about 10 microseconds each, with the row locked. */
  private static final int AHEAD_MAX = 50_000;

  private final Database source;
  private final Target target;
  private final TargetSql names;
  private final BatchTable rows;

  public FillOnDemandTable(Database source, Target target) {
    this.source = SourceSession.named(source, Name.LOOK_UP, target);
    this.target = target;
    this.names = new TargetSql(target);
    this.rows = new BatchTable(target, Optional.empty());
  }

  /**
   * The key of a row; empty if there is no such row. Tries again if the table was renamed a moment
   * ago.
   *
   * @throws DatabaseUnavailable if the source is unavailable, the row can't be filled within a
   *     second, or the backfill is far behind it
   */
  public OptionalLong find(long legacy) {
    try {
      return findByNames(legacy);
    } catch (DataAccessException refused) {
      Optional<Target> now = CatalogTable.now(source, target);
      if (now.isEmpty()) {
        // The column of the legacy IDs was dropped a moment ago.
        return archived(legacy);
      }
      if (now.get().equals(target)) {
        throw refused;
      }
      return new FillOnDemandTable(source, now.get()).findByNames(legacy);
    }
  }

  /** The key of a legacy ID in the archive. For a contracted run the archive has all rows. */
  public OptionalLong archived(long legacy) {
    return source.read(
        "archived key",
        sql ->
            PlainSql.first(
                    sql, names.fill(ARCHIVED), row -> OptionalLong.of(row.getLong(1)), legacy)
                .orElse(OptionalLong.empty()));
  }

  private OptionalLong findByNames(long legacy) {
    List<OptionalLong> keys = source.read("source row", sql -> keys(sql, names.fill(READ), legacy));
    if (keys.isEmpty()) {
      return OptionalLong.empty();
    }
    return keys.getFirst().isPresent() ? keys.getFirst() : fill(legacy);
  }

  private OptionalLong fill(long legacy) {
    try {
      return source.write("fill ahead", sql -> fill(sql, legacy));
    } catch (BatchTable.RowRefused setAside) {
      throw new DatabaseUnavailable("the key of a row whose update the table refuses");
    }
  }

  private OptionalLong fill(DSLContext sql, long legacy) {
    rows.bound(sql, STATEMENT_MILLIS);
    if (!PlainSql.isTrue(sql, names.fill(NEAR), legacy, legacy, legacy, AHEAD_MAX)) {
      throw new DatabaseUnavailable("the key of a row far ahead of the backfill");
    }
    List<OptionalLong> keys = keys(sql, names.fill(LOCK), legacy);
    if (keys.isEmpty()) {
      return OptionalLong.empty();
    }
    if (keys.getFirst().isPresent()) {
      return keys.getFirst();
    }
    PlainSql.rows(sql, names.fill(HOLD), held -> held.getInt(1));
    OptionalLong kept =
        PlainSql.row(sql, names.fill(KEPT), key -> PlainSql.optionalLong(key, 1), legacy, legacy);
    long key = kept.isPresent() ? kept.getAsLong() : KeyPositions.key(position(sql, legacy));
    rows.update(sql, List.of(new LegacyKey(legacy, key)), false);
    // The batches of an undo may have passed the row while it had no key.
    PlainSql.execute(sql, names.fill(ARCHIVE), legacy, key);
    return OptionalLong.of(key);
  }

  private long position(DSLContext sql, long legacy) {
    record Reached(long position, long t0Millis) {}
    return PlainSql.rows(
            sql,
            names.fill(HIGHEST_POSITION),
            row -> new Reached(row.getLong(1), row.getLong(2)),
            legacy,
            legacy,
            legacy,
            legacy)
        .stream()
        .filter(reached -> !KeyPositions.reaches(reached.position(), reached.t0Millis()))
        .map(Reached::position)
        .findFirst()
        .orElseThrow(() -> new DatabaseUnavailable("the key of a row behind the backfill"));
  }

  /** The key of the row, empty if the row is not filled; no key if there is no such row. */
  private List<OptionalLong> keys(DSLContext sql, String query, long legacy) {
    return PlainSql.rows(sql, query, row -> PlainSql.optionalLong(row, 1), legacy);
  }
}
