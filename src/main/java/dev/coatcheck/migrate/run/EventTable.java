package dev.coatcheck.migrate.run;

import static dev.coatcheck.postgres.sql.schema.Tables.TABLE_MIGRATION_EVENT;
import static org.jooq.impl.DSL.exists;
import static org.jooq.impl.DSL.selectOne;
import static org.jooq.impl.DSL.val;
import static org.jooq.impl.DSL.when;

import dev.coatcheck.postgres.sql.schema.tables.records.TableMigrationEventRecord;
import java.util.List;
import org.jooq.Condition;
import org.jooq.DSLContext;

/** The rows of a run's events, for use inside transactions. */
final class EventTable {
  private EventTable() {}

  static void append(DSLContext sql, long id, String actor, String kind, String detail) {
    sql.execute(
        """
        with numbered as (
          update coatcheck.table_migration set last_event = last_event + 1
           where migration_id = {0} returning last_event)
        insert into coatcheck.table_migration_event (migration_id, number, actor, kind, detail)
        select {0}, last_event, {1}, {2}, {3} from numbered
        """,
        val(id), val(actor), val(kind), val(detail));
  }

  /** From the first one, if the number lies ahead: after a restore the numbers come again. */
  static List<RunEvent> after(DSLContext sql, long id, long number) {
    Condition isReached =
        exists(
            selectOne()
                .from(TABLE_MIGRATION_EVENT)
                .where(TABLE_MIGRATION_EVENT.MIGRATION_ID.eq(id))
                .and(TABLE_MIGRATION_EVENT.NUMBER.ge(number)));
    return sql.selectFrom(TABLE_MIGRATION_EVENT)
        .where(TABLE_MIGRATION_EVENT.MIGRATION_ID.eq(id))
        .and(TABLE_MIGRATION_EVENT.NUMBER.gt(when(isReached, number).otherwise(0L)))
        .orderBy(TABLE_MIGRATION_EVENT.NUMBER)
        .limit(JournalTable.EVENTS_MAX)
        .fetch(EventTable::event);
  }

  static List<RunEvent> before(DSLContext sql, long id, long number) {
    return sql.selectFrom(TABLE_MIGRATION_EVENT)
        .where(TABLE_MIGRATION_EVENT.MIGRATION_ID.eq(id))
        .and(TABLE_MIGRATION_EVENT.NUMBER.lt(number))
        .orderBy(TABLE_MIGRATION_EVENT.NUMBER.desc())
        .limit(JournalTable.LISTED_MAX)
        .fetch(EventTable::event);
  }

  private static RunEvent event(TableMigrationEventRecord row) {
    return new RunEvent(
        row.getNumber(), row.getAt(), row.getActor(), row.getKind(), row.getDetail());
  }
}
