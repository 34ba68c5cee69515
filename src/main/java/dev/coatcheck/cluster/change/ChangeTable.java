package dev.coatcheck.cluster.change;

import static org.jooq.impl.DSL.val;

import dev.coatcheck.cluster.grant.PrimarySql;
import java.util.List;
import org.jooq.DSLContext;

/**
 * Appends to the change feed, within the transaction of the change.
 *
 * <p>The numbers come from one row that stays locked until the commit. So they have no gaps and
 * follow the order of commits: a reader that has read up to n has missed nothing. Numbers from an
 * identity column follow another order than the commits, and a reader would lose changes for good.
 *
 * <p>A standby that is promoted may lack the last changes of the old primary, and would give their
 * numbers again. So the first change on another server leaves a gap, at which every reader begins
 * anew; so does the first one in a table that was restored from a dump, which lacks what came after
 * the dump. The gap is longer than what a standby can lack. How much longer is left to chance: a
 * second standby that lacks all that the first one wrote must not give its numbers again either.
 */
public final class ChangeTable {
  static final String APPEND =
      """
      with head as (
        update coatcheck.change_head last
           set number = number + {0} + case when last.origin <> here.server || last.tableoid::text
                 then 1000000 + floor(random() * 1000000000::float8)::bigint else 0 end,
               origin = here.server || last.tableoid::text
          from (select <system>::text || '/' || (<timeline>)::text || '/' as server) here
        returning number
      )
      insert into coatcheck.change (number, created_at, kind, subject)
      select head.number - {0} + changed.ordinal, clock_timestamp(), {1}, changed.subject
      from head, unnest({2}) with ordinality as changed (subject, ordinal)
      """
          .replace("<system>", PrimarySql.SYSTEM_IDENTIFIER)
          .replace("<timeline>", PrimarySql.TIMELINE);

  private ChangeTable() {}

  /**
   * Appends to the feed. This must be the last statement of its transaction: all other appends wait
   * for the commit.
   */
  public static void append(DSLContext sql, ChangeKind kind, List<String> subjects) {
    append(sql, APPEND, kind, subjects);
  }

  static void append(DSLContext sql, String statement, ChangeKind kind, List<String> subjects) {
    if (!subjects.isEmpty()) {
      sql.query(
              statement,
              val((long) subjects.size()),
              val(kind.wireName()),
              val(subjects.toArray(String[]::new)))
          .execute();
    }
  }
}
