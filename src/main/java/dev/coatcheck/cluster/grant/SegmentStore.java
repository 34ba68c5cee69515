package dev.coatcheck.cluster.grant;

import dev.coatcheck.cluster.audit.Actor;
import dev.coatcheck.cluster.audit.AuditTable;
import dev.coatcheck.core.key.KeyOutcome;
import dev.coatcheck.postgres.sql.Database;
import dev.coatcheck.postgres.sql.PlainSql;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jooq.DSLContext;

/** Segments in Postgres. A grant is one statement, so that it is committed before it is used. */
final class SegmentStore {
  /**
   * The first index that no instance can have: after what the row says, what was skipped since, and
   * what the caller knows to be granted. A statement that waited for the row may see an older fence
   * than the writer of the row, so the skip is at least 0.
   */
  private static final String FREE =
      "greatest(s.next_index + greatest(f.segment_advance - s.advance, 0), ?)";

  private static final String GRANT =
      """
      update coatcheck.segment s
         set next_index = least(%1$s + greatest(?, s.step_min), s.size),
             step = least(greatest(?, s.step_min), s.size - %1$s),
             advance = greatest(f.segment_advance, s.advance),
             granted_at = clock_timestamp()
        from coatcheck.key_fence f
       where s.tag = ? and %2$s and %1$s < s.size
      returning s.next_index - s.step, s.step, s.tag, s.start, s.stride, s.bits, s.step_min, s.step_max
      """
          .formatted(FREE, FenceTable.IS_OPEN);

  private static final String WHY_NOT =
      """
      select exists (select from coatcheck.segment where tag = ?), %s from coatcheck.key_fence f
      """
          .formatted(FenceTable.IS_OPEN);

  private static final String COLUMNS =
      """
      s.tag, s.start, s.stride, s.bits, s.step_min, s.step_max,
      s.next_index, s.size - s.next_index, s.step, s.granted_at
      """;

  private static final String LIST =
      "select " + COLUMNS + " from coatcheck.segment s order by s.tag";

  private static final String FIND =
      "select " + COLUMNS + " from coatcheck.segment s where s.tag = ? for update";

  /**
   * A new segment skips as many numbers as all others did: it may have existed before and have been
   * lost together with its grants.
   */
  private static final String CREATE =
      """
      insert into coatcheck.segment as s (tag, start, stride, bits, size, step_min, step_max, step)
      values (?, ?, ?, ?, ?, ?, ?, ?)
          on conflict do nothing
      """;

  private static final String SET_STEPS =
      "update coatcheck.segment set step_min = ?, step_max = ? where tag = ?";

  private final Database database;

  SegmentStore(Database database) {
    this.database = database;
  }

  /**
   * Grants numbers, each at most once.
   *
   * @param count how many; a grant has at least the smallest step, if so many are left
   * @param knownEnd the end of all grants to the caller, which may know of grants that a primary
   *     has lost
   */
  SegmentGrant grant(String tag, int count, long knownEnd) {
    Optional<SegmentGrant> granted =
        database.writeAlone(
            "segment",
            sql ->
                PlainSql.first(
                    sql,
                    GRANT,
                    row ->
                        new SegmentGrant.Granted(definition(row, 3), row.getLong(1), row.getInt(2)),
                    knownEnd,
                    count,
                    count,
                    knownEnd,
                    tag,
                    knownEnd));
    return granted.orElseGet(() -> new SegmentGrant.Refused(whyNot(tag)));
  }

  private KeyOutcome.NoKeys whyNot(String tag) {
    return database.read(
        "segment",
        sql ->
            PlainSql.row(
                sql,
                WHY_NOT,
                row ->
                    !row.getBoolean(1)
                        ? new KeyOutcome.UnknownSegment()
                        : row.getBoolean(2)
                            ? new KeyOutcome.SegmentExhausted()
                            : new KeyOutcome.Fenced(),
                tag));
  }

  SegmentPut put(SegmentDefinition wanted, Actor actor) {
    return database.write(
        "segment",
        sql -> {
          int created =
              PlainSql.execute(
                  sql,
                  CREATE,
                  wanted.tag(),
                  wanted.start(),
                  wanted.stride(),
                  wanted.bits(),
                  wanted.size(),
                  wanted.stepMin(),
                  wanted.stepMax(),
                  wanted.stepMin());
          SegmentState there = find(sql, wanted.tag());
          if (created == 1) {
            audit(sql, actor, wanted, List.of());
            return new SegmentPut.Created(there);
          }
          Optional<String> difference = difference(wanted, there.definition());
          if (difference.isPresent()) {
            return new SegmentPut.CountsOtherwise(difference.get());
          }
          List<String> changed = changedSteps(wanted, there.definition());
          if (changed.isEmpty()) {
            return new SegmentPut.Replaced(there);
          }
          PlainSql.execute(sql, SET_STEPS, wanted.stepMin(), wanted.stepMax(), wanted.tag());
          audit(sql, actor, wanted, changed);
          return new SegmentPut.Replaced(find(sql, wanted.tag()));
        });
  }

  private static List<String> changedSteps(SegmentDefinition wanted, SegmentDefinition there) {
    List<String> changed = new ArrayList<>();
    if (wanted.stepMin() != there.stepMin()) {
      changed.add("step_min");
    }
    if (wanted.stepMax() != there.stepMax()) {
      changed.add("step_max");
    }
    return changed;
  }

  /**
   * @param changed the fields of a segment that was there; empty for a new one
   */
  private static void audit(
      DSLContext sql, Actor actor, SegmentDefinition segment, List<String> changed) {
    AuditTable.append(
        sql,
        actor,
        "segment.put",
        segment.tag(),
        changed.isEmpty() ? Map.of("created", true) : Map.of("fields", changed));
  }

  private static Optional<String> difference(SegmentDefinition wanted, SegmentDefinition there) {
    if (wanted.start() != there.start()) {
      return Optional.of("start");
    }
    if (wanted.stride() != there.stride()) {
      return Optional.of("stride");
    }
    return wanted.bits() == there.bits() ? Optional.empty() : Optional.of("bits");
  }

  private static SegmentState find(DSLContext sql, String tag) {
    return PlainSql.row(sql, FIND, SegmentStore::state, tag);
  }

  List<SegmentState> list() {
    return database.read("segments", sql -> PlainSql.rows(sql, LIST, SegmentStore::state));
  }

  private static SegmentState state(ResultSet row) throws SQLException {
    OffsetDateTime grantedAt = row.getObject(10, OffsetDateTime.class);
    return new SegmentState(
        definition(row, 1),
        row.getLong(7),
        row.getLong(8),
        row.getInt(9),
        grantedAt == null ? null : grantedAt.toInstant());
  }

  private static SegmentDefinition definition(ResultSet row, int column) throws SQLException {
    return new SegmentDefinition(
        row.getString(column),
        row.getLong(column + 1),
        row.getLong(column + 2),
        row.getInt(column + 3),
        row.getInt(column + 4),
        row.getInt(column + 5));
  }
}
