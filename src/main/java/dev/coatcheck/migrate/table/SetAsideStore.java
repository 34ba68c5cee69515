package dev.coatcheck.migrate.table;

import static dev.coatcheck.migrate.table.Steps.file;

import dev.coatcheck.bulk.load.LegacyKeyWriter.LegacyKey;
import dev.coatcheck.core.name.WireNamed;
import dev.coatcheck.migrate.source.FenceLost;
import dev.coatcheck.migrate.source.SqlTemplate;
import dev.coatcheck.migrate.table.Backfill.Range;
import dev.coatcheck.migrate.table.BatchTable.Bounds;
import dev.coatcheck.migrate.table.BatchTable.Given;
import dev.coatcheck.migrate.table.SetAside.Cause;
import dev.coatcheck.postgres.session.Session;
import dev.coatcheck.postgres.sql.PlainSql;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jooq.DSLContext;

/** All SQL of rows that were set aside. They are stored in the source, with the checkpoint. */
final class SetAsideStore {
  private static final SqlTemplate HOLD = file("hold.sql");
  private static final SqlTemplate BLOCK = file("block.sql");
  private static final SqlTemplate INSERT = file("set-aside.sql");
  private static final SqlTemplate LIST = file("list-set-aside.sql");
  private static final SqlTemplate LOCK_FREE = file("lock-free.sql");
  private static final SqlTemplate PRESENT = file("present.sql");
  private static final SqlTemplate BLAME = file("blame.sql");
  private static final SqlTemplate SETTLE = file("settle.sql");

  private static final String LOCKED = "another session holds the row";

  private final Session session;
  private final BatchTable rows;

  SetAsideStore(Session session, BatchTable rows) {
    this.session = session;
    this.rows = rows;
  }

  /**
   * Sets the first block of a range aside, each row with its key, and moves the checkpoint behind
   * it.
   *
   * @return the last ID of the block
   * @throws FenceLost if another runner has taken over
   */
  long setAside(Range range, Cause cause, String error, long fence, Bounds bounds) {
    return session.transaction(
        "set rows aside",
        bounds.statementMillis(),
        sql -> {
          rows.bound(sql, bounds);
          PlainSql.execute(sql, rows.fill(HOLD));
          Checkpoint before = rows.checkpoint(sql);
          long upto =
              PlainSql.row(
                      sql,
                      rows.fill(BLOCK),
                      row -> PlainSql.optionalLong(row, 1),
                      range.afterId(),
                      range.lastId(),
                      KeyTimes.BLOCK)
                  .orElse(range.lastId());
          List<Given> given = rows.keys(sql, before, range.afterId(), upto, range.afterPosition());
          List<Given> open = given.stream().filter(Given::isOpen).toList();
          PlainSql.execute(
              sql,
              rows.fill(INSERT),
              cause.wireName(),
              error,
              open.stream().map(Given::legacy).toArray(Long[]::new),
              open.stream().map(Given::key).toArray(Long[]::new));
          long position = given.isEmpty() ? range.afterPosition() : given.getLast().position();
          rows.advance(sql, upto, Math.max(position, range.afterPosition()), 0, given, fence);
          return upto;
        });
  }

  List<SetAside> list(long afterId, Set<Cause> causes, int most) {
    return session.transaction(
        "rows set aside",
        sql ->
            PlainSql.rows(
                sql,
                rows.fill(LIST),
                SetAsideStore::setAside,
                afterId,
                causes.stream().map(Cause::wireName).toArray(String[]::new),
                most));
  }

  private static SetAside setAside(ResultSet row) throws SQLException {
    Cause cause = WireNamed.find(Cause.class, row.getString(3)).orElseThrow();
    return new SetAside(row.getLong(1), row.getLong(2), cause, row.getString(4));
  }

  /**
   * Fills rows with their reserved keys. Rows that another session holds stay set aside; rows that
   * were deleted or have a key by now are removed from the list.
   *
   * @return how many were filled
   * @throws BatchTable.RowRefused if the table refused one of them
   * @throws FenceLost if another runner has taken over
   */
  int fill(List<SetAside> wanted, long fence, boolean careful, Bounds bounds) {
    return session.transaction(
        "fill rows set aside",
        bounds.statementMillis(),
        sql -> {
          rows.bound(sql, bounds);
          Long[] ids = wanted.stream().map(SetAside::legacy).toArray(Long[]::new);
          Map<Long, Boolean> free = new HashMap<>();
          PlainSql.rows(
              sql,
              rows.fill(LOCK_FREE),
              row -> free.put(row.getLong(1), PlainSql.longOrNull(row, 2) == null),
              (Object) ids);
          Set<Long> present =
              new HashSet<>(
                  PlainSql.rows(sql, rows.fill(PRESENT), row -> row.getLong(1), (Object) ids));
          List<LegacyKey> open = new ArrayList<>();
          List<Long> settled = new ArrayList<>();
          List<Long> locked = new ArrayList<>();
          for (SetAside row : wanted) {
            Boolean isOpen = free.get(row.legacy());
            if (isOpen == null && present.contains(row.legacy())) {
              locked.add(row.legacy());
            } else {
              settled.add(row.legacy());
            }
            if (Boolean.TRUE.equals(isOpen)) {
              open.add(new LegacyKey(row.legacy(), row.key()));
            }
          }
          rows.update(sql, open, careful);
          PlainSql.execute(sql, rows.fill(SETTLE), (Object) settled.toArray(Long[]::new));
          blame(sql, locked, Cause.LOCKED, LOCKED);
          rows.advance(sql, 0, 0, open.size(), List.of(), fence);
          return open.size();
        });
  }

  void blame(List<SetAside> blamed, Cause cause, String error) {
    session.transaction(
        "rows set aside",
        sql -> {
          blame(sql, blamed.stream().map(SetAside::legacy).toList(), cause, error);
          return true;
        });
  }

  private void blame(DSLContext sql, List<Long> legacy, Cause cause, String error) {
    if (!legacy.isEmpty()) {
      PlainSql.execute(sql, rows.fill(BLAME), cause.wireName(), error, legacy.toArray(Long[]::new));
    }
  }
}
