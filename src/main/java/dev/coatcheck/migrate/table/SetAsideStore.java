package dev.coatcheck.migrate.table;

import static dev.coatcheck.migrate.table.Steps.file;

import dev.coatcheck.bulk.load.LegacyKeyWriter.LegacyKey;
import dev.coatcheck.core.name.WireNamed;
import dev.coatcheck.migrate.source.FenceLost;
import dev.coatcheck.migrate.source.SqlTemplate;
import dev.coatcheck.migrate.table.Backfill.Range;
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
import java.util.function.Function;
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
  private static final String ERASED = "its public ID was erased";

  private final Session session;
  private final BatchTable rows;
  private final Function<List<Long>, Set<Long>> erased;

  SetAsideStore(Session session, BatchTable rows, Function<List<Long>, Set<Long>> erased) {
    this.session = session;
    this.rows = rows;
    this.erased = erased;
  }

  /** Sets the rows aside whose public IDs were erased; returns the others. */
  List<LegacyKey> withoutErased(DSLContext sql, List<LegacyKey> open) {
    Set<Long> gone = erased.apply(open.stream().map(LegacyKey::legacy).toList());
    if (gone.isEmpty()) {
      return open;
    }
    insert(
        sql,
        Cause.ERASED,
        ERASED,
        open.stream().filter(row -> gone.contains(row.legacy())).toList());
    blame(sql, List.copyOf(gone), Cause.ERASED, ERASED);
    return open.stream().filter(row -> !gone.contains(row.legacy())).toList();
  }

  private void insert(DSLContext sql, Cause cause, String error, List<LegacyKey> some) {
    PlainSql.execute(
        sql,
        rows.fill(INSERT),
        cause.wireName(),
        error,
        some.stream().map(LegacyKey::legacy).toArray(Long[]::new),
        some.stream().map(LegacyKey::key).toArray(Long[]::new));
  }

  /**
   * Sets the first block of a range aside, each row with its key, and moves the checkpoint behind
   * it.
   *
   * @return the last ID of the block
   * @throws FenceLost if another runner has taken over
   */
  long setAside(Range range, Cause cause, String error, long fence, int statementMillis) {
    return session.transaction(
        "set rows aside",
        statementMillis,
        sql -> {
          rows.bound(sql, statementMillis);
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
          insert(
              sql,
              cause,
              error,
              given.stream().filter(Given::isOpen).map(Given::legacyKey).toList());
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
  int fill(List<SetAside> wanted, long fence, boolean careful, int statementMillis) {
    return session.transaction(
        "fill rows set aside",
        statementMillis,
        sql -> {
          rows.bound(sql, statementMillis);
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
          List<LegacyKey> filled = withoutErased(sql, open);
          settled.removeAll(erasedOf(open, filled));
          rows.update(sql, filled, careful);
          PlainSql.execute(sql, rows.fill(SETTLE), (Object) settled.toArray(Long[]::new));
          blame(sql, locked, Cause.LOCKED, LOCKED);
          rows.advance(sql, 0, 0, filled.size(), List.of(), fence);
          return filled.size();
        });
  }

  private static List<Long> erasedOf(List<LegacyKey> open, List<LegacyKey> filled) {
    return open.stream().filter(row -> !filled.contains(row)).map(LegacyKey::legacy).toList();
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
