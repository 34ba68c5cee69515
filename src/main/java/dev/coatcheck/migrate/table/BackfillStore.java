package dev.coatcheck.migrate.table;

import dev.coatcheck.bulk.load.LegacyKeyWriter.LegacyKey;
import dev.coatcheck.migrate.source.FenceLost;
import dev.coatcheck.migrate.source.SqlTemplate;
import dev.coatcheck.migrate.table.Backfill.Outcome;
import dev.coatcheck.migrate.table.Backfill.Range;
import dev.coatcheck.migrate.table.BatchTable.Given;
import dev.coatcheck.migrate.table.BatchTable.RowRefused;
import dev.coatcheck.postgres.session.Session;
import dev.coatcheck.postgres.sql.PlainSql;
import java.util.List;
import java.util.OptionalLong;
import org.jooq.DSLContext;

/** All SQL of batches. A batch and its checkpoint are one transaction. */
final class BackfillStore {
  private static final SqlTemplate OPEN = SqlTemplate.file(BackfillStore.class, "open.sql");

  private final Session session;
  private final BatchTable rows;
  private final SetAsideStore setAside;

  BackfillStore(Session session, BatchTable rows, SetAsideStore setAside) {
    this.session = session;
    this.rows = rows;
    this.setAside = setAside;
  }

  Checkpoint checkpoint() {
    return session.transaction("checkpoint", rows::checkpoint);
  }

  /**
   * Fills a batch and moves the checkpoint.
   *
   * @param rowsMax of the batch
   * @param careful whether some of the mappings may already exist
   * @throws RowRefused if the table refused a row
   * @throws FenceLost if another runner has taken over
   */
  Outcome.Filled fill(Range range, int rowsMax, long fence, boolean careful, int statementMillis) {
    return session.transaction(
        "backfill",
        statementMillis,
        sql -> {
          rows.bound(sql, statementMillis);
          Checkpoint before = rows.checkpoint(sql);
          OptionalLong upto = lock(sql, range, rowsMax);
          if (upto.isEmpty()) {
            rows.advance(sql, range.lastId(), range.afterPosition(), 0, List.of(), fence);
            return new Outcome.Filled(0);
          }
          List<Given> given =
              rows.keys(sql, before, range.afterId(), upto.getAsLong(), range.afterPosition());
          List<LegacyKey> open =
              setAside.withoutErased(
                  sql, given.stream().filter(Given::isOpen).map(Given::legacyKey).toList());
          rows.update(sql, open, careful);
          long position = Math.max(range.afterPosition(), given.getLast().position());
          rows.advance(sql, upto.getAsLong(), position, open.size(), given, fence);
          return new Outcome.Filled(open.size());
        });
  }

  private OptionalLong lock(DSLContext sql, Range range, int rowsMax) {
    return PlainSql.row(
        sql,
        rows.fill(BatchTable.LOCK),
        row -> PlainSql.optionalLong(row, 1),
        range.afterId(),
        range.lastId(),
        rowsMax);
  }

  OptionalLong open(long afterId) {
    return session.longTransaction(
        "backfill",
        sql ->
            PlainSql.first(sql, rows.fill(OPEN), row -> OptionalLong.of(row.getLong(1)), afterId)
                .orElse(OptionalLong.empty()));
  }
}
