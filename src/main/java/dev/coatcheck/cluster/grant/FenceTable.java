package dev.coatcheck.cluster.grant;

import dev.coatcheck.postgres.sql.PlainSql;
import org.jooq.DSLContext;

/** The only row of {@code key_fence}. */
final class FenceTable {
  /** The table itself is another one where a dump was restored, also on the same primary. */
  private static final String CURRENT =
      "(%s, %s, f.tableoid::bigint)".formatted(PrimarySql.TIMELINE, PrimarySql.SYSTEM_IDENTIFIER);

  /** Whether the fence {@code f} is open on the primary that answers. */
  static final String IS_OPEN = "(f.timeline, f.system_identifier, f.table_oid) = " + CURRENT;

  private static final String STATE =
      """
      select %s, f.segment_advance, f.dated_worker from coatcheck.key_fence f for update
      """
          .formatted(IS_OPEN);

  private static final String LIFT =
      """
      update coatcheck.key_fence f
         set (timeline, system_identifier, table_oid) = %s, segment_advance = ?, dated_worker = ?
      """
          .formatted(CURRENT);

  private FenceTable() {}

  record State(boolean isOpen, long segmentAdvance, int datedWorker) {}

  static State state(DSLContext sql) {
    return PlainSql.row(
        sql, STATE, row -> new State(row.getBoolean(1), row.getLong(2), row.getInt(3)));
  }

  static void lift(DSLContext sql, long segmentAdvance, int datedWorker) {
    int _ = PlainSql.execute(sql, LIFT, segmentAdvance, datedWorker);
  }
}
