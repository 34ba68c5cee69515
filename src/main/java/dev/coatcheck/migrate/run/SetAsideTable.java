package dev.coatcheck.migrate.run;

import static dev.coatcheck.postgres.sql.schema.Tables.TABLE_MIGRATION_SET_ASIDE;

import dev.coatcheck.core.name.WireNamed;
import dev.coatcheck.migrate.table.SetAside;
import java.util.List;
import org.jooq.DSLContext;

/** What the gateway's database keeps of rows that were set aside, for use inside transactions. */
final class SetAsideTable {
  private SetAsideTable() {}

  static List<SetAside> of(DSLContext sql, long id) {
    return sql.selectFrom(TABLE_MIGRATION_SET_ASIDE)
        .where(TABLE_MIGRATION_SET_ASIDE.MIGRATION_ID.eq(id))
        .orderBy(TABLE_MIGRATION_SET_ASIDE.LEGACY_ID)
        .fetch(
            row ->
                new SetAside(
                    row.getLegacyId(),
                    row.getKey(),
                    WireNamed.find(SetAside.Cause.class, row.getCause()).orElseThrow(),
                    row.getError()));
  }

  static void delete(DSLContext sql, long id) {
    sql.deleteFrom(TABLE_MIGRATION_SET_ASIDE)
        .where(TABLE_MIGRATION_SET_ASIDE.MIGRATION_ID.eq(id))
        .execute();
  }

  static void insert(DSLContext sql, long id, SetAside row) {
    sql.insertInto(TABLE_MIGRATION_SET_ASIDE)
        .set(TABLE_MIGRATION_SET_ASIDE.MIGRATION_ID, id)
        .set(TABLE_MIGRATION_SET_ASIDE.LEGACY_ID, row.legacy())
        .set(TABLE_MIGRATION_SET_ASIDE.KEY, row.key())
        .set(TABLE_MIGRATION_SET_ASIDE.CAUSE, row.cause().wireName())
        .set(TABLE_MIGRATION_SET_ASIDE.ERROR, row.error())
        .execute();
  }
}
