package dev.coatcheck.cluster.lease;

import dev.coatcheck.core.key.SnowflakeLayout;
import dev.coatcheck.postgres.sql.PlainSql;
import org.jooq.DSLContext;

/**
 * How many layouts there may be because requests spell them out. Each has a row for every worker,
 * and a thread on each instance that makes its keys, and nothing gives either back. Layouts that
 * have a name come on top, and types may add theirs beyond it.
 */
final class LayoutStore {
  static final int LAYOUTS_MAX = 8;

  /** From one layout to the next through the primary key, because each has a thousand rows. */
  private static final String HAS_ROOM =
      """
      with recursive known (layout) as (
        select min(l.layout) from coatcheck.worker_lease l
        union all
        select (select min(l.layout) from coatcheck.worker_lease l where l.layout > known.layout)
          from known where known.layout is not null)
      select count(*) filter (where layout <> all (?)) < ?
             or count(*) filter (where layout = ?) > 0
        from known
      """;

  private LayoutStore() {}

  /** Whether workers of the layout are registered, or those of one more layout may be. */
  static boolean hasRoom(DSLContext sql, SnowflakeLayout layout) {
    return PlainSql.isTrue(
        sql,
        HAS_ROOM,
        SnowflakeLayout.NAMED.stream().map(SnowflakeLayout::name).toArray(String[]::new),
        LAYOUTS_MAX,
        layout.name());
  }
}
