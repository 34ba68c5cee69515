package dev.coatcheck.cluster.grant;

import dev.coatcheck.postgres.sql.PlainSql;
import org.jooq.DSLContext;

/** The only row of {@code key_fence}. */
final class FenceTable {
  private static final String CURRENT =
      "(" + PrimarySql.TIMELINE + ", " + PrimarySql.SYSTEM_IDENTIFIER + ")";

  /** Whether the fence {@code f} lets grants through on the primary that answers. */
  static final String IS_OPEN = "(f.timeline, f.system_identifier) = " + CURRENT;

  private static final String LIFT =
      """
      update coatcheck.key_fence f
         set (timeline, system_identifier) = (%1$s, %2$s),
             segment_advance = before.segment_advance + ?,
             dated_advance = before.dated_advance + ?
        from (select * from coatcheck.key_fence for update) before
      returning (before.timeline, before.system_identifier) <> (f.timeline, f.system_identifier),
                f.segment_advance, f.dated_advance
      """
          .formatted(PrimarySql.TIMELINE, PrimarySql.SYSTEM_IDENTIFIER);

  private FenceTable() {}

  static KeyFence.Lifted lift(DSLContext sql, int segmentAdvance, int datedAdvance) {
    return PlainSql.row(
        sql,
        LIFT,
        row -> new KeyFence.Lifted(row.getBoolean(1), row.getLong(2), row.getLong(3)),
        segmentAdvance,
        datedAdvance);
  }
}
