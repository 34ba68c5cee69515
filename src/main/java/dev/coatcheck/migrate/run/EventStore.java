package dev.coatcheck.migrate.run;

import static dev.coatcheck.postgres.sql.schema.Tables.PUBLIC_ID;
import static dev.coatcheck.postgres.sql.schema.Tables.TABLE_MIGRATION;
import static dev.coatcheck.postgres.sql.schema.Tables.TABLE_MIGRATION_EVENT;
import static org.jooq.impl.DSL.val;

import dev.coatcheck.postgres.sql.Database;
import java.util.List;
import org.jooq.DSLContext;

/** The rows of events: who did what with a run, and what came of it. */
final class EventStore {
  private final Database database;

  EventStore(Database database) {
    this.database = database;
  }

  /** Those after a number, oldest first. */
  List<RunEvent> events(long id, long after, int limit) {
    return database.read(
        "table migration events",
        sql ->
            sql.selectFrom(TABLE_MIGRATION_EVENT)
                .where(TABLE_MIGRATION_EVENT.MIGRATION_ID.eq(id))
                .and(TABLE_MIGRATION_EVENT.NUMBER.gt(after))
                .orderBy(TABLE_MIGRATION_EVENT.NUMBER)
                .limit(limit)
                .fetch(
                    row ->
                        new RunEvent(
                            row.getNumber(),
                            row.getAt(),
                            row.getActor(),
                            row.getKind(),
                            row.getDetail())));
  }

  void event(long id, String actor, String kind, String detail) {
    database.write(
        "table migration event",
        sql -> {
          append(sql, id, actor, kind, detail);
          return true;
        });
  }

  /** Whether a run whose keys public IDs of the type have has an event of a kind. */
  boolean isThere(String kind, int typeNumber) {
    return database.read(
        "table migration events",
        sql ->
            sql.fetchExists(
                sql.selectOne()
                    .from(TABLE_MIGRATION)
                    .join(TABLE_MIGRATION_EVENT)
                    .using(TABLE_MIGRATION.MIGRATION_ID)
                    .where(TABLE_MIGRATION.TYPE_ID.eq(typeNumber))
                    .and(TABLE_MIGRATION_EVENT.KIND.eq(kind))
                    .andExists(
                        sql.selectOne().from(PUBLIC_ID).where(PUBLIC_ID.TYPE_ID.eq(typeNumber)))));
  }

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
}
