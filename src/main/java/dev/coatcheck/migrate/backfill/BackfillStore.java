package dev.coatcheck.migrate.backfill;

import dev.coatcheck.bulk.load.LegacyKeyTable.LegacyKey;
import dev.coatcheck.migrate.backfill.Backfill.Outcome;
import dev.coatcheck.migrate.backfill.BatchTable.Bounds;
import dev.coatcheck.migrate.backfill.BatchTable.Given;
import dev.coatcheck.migrate.backfill.BatchTable.RowRefused;
import dev.coatcheck.migrate.source.FenceLost;
import dev.coatcheck.postgres.session.Session;
import dev.coatcheck.postgres.sql.PlainSql;
import java.util.List;
import java.util.OptionalLong;
import java.util.function.Function;
import org.jooq.DSLContext;

/** All SQL of batches. A batch and the checkpoint behind it are one transaction. */
final class BackfillStore {
  /** Rows that wait for a retry have their key, though it doesn't stand in the table. */
  private static final String OPEN =
      """
      select t.<id>::bigint from <table> t
       where t.snowflake_id is null and t.<id> > ?
         and not exists (
           select from <schema>.set_aside s where s.run = <run> and s.legacy = t.<id>)
       order by t.<id> limit 1\
      """;

  private final Session session;
  private final BatchTable rows;

  BackfillStore(Session session, BatchTable rows) {
    this.session = session;
    this.rows = rows;
  }

  /** The range of one batch, and where its positions begin. */
  record Range(long afterId, long lastId, long afterPosition, int rowsMax) {}

  Checkpoint checkpoint() {
    return session.transaction("checkpoint", rows::checkpoint);
  }

  /**
   * Fills a batch and moves the checkpoint.
   *
   * @param careful whether some of the mappings may be there already
   * @throws RowRefused if the table refused a row
   * @throws FenceLost if another runner has taken over
   */
  Outcome.Filled fill(Range range, long fence, boolean careful, Bounds bounds) {
    return session.transaction(
        "backfill",
        bounds.statementMillis(),
        sql -> {
          rows.bound(sql, bounds);
          Checkpoint before = rows.checkpoint(sql);
          OptionalLong upto = lock(sql, range);
          if (upto.isEmpty()) {
            rows.advance(sql, range.lastId(), range.afterPosition(), 0, List.of(), fence);
            return new Outcome.Filled(0, range.lastId(), range.afterPosition());
          }
          List<Given> given =
              rows.keys(sql, before, range.afterId(), upto.getAsLong(), range.afterPosition());
          List<LegacyKey> open =
              given.stream().filter(Given::isOpen).map(Given::legacyKey).toList();
          rows.update(sql, open, careful);
          long position = Math.max(range.afterPosition(), given.getLast().position());
          rows.advance(sql, upto.getAsLong(), position, open.size(), given, fence);
          return new Outcome.Filled(open.size(), upto.getAsLong(), position);
        });
  }

  private OptionalLong lock(DSLContext sql, Range range) {
    return PlainSql.rows(
            sql,
            rows.fill(BatchTable.LOCK),
            row -> PlainSql.optionalLong(row, 1),
            range.afterId(),
            range.lastId(),
            range.rowsMax())
        .getFirst();
  }

  /** The first row without a key after an ID. */
  OptionalLong open(long afterId) {
    Function<DSLContext, List<Long>> first =
        sql -> PlainSql.rows(sql, rows.fill(OPEN), row -> row.getLong(1), afterId);
    return session.longTransaction("backfill", first).stream()
        .mapToLong(Long::longValue)
        .findFirst();
  }
}
