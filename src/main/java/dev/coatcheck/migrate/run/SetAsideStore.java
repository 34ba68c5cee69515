package dev.coatcheck.migrate.run;

import static dev.coatcheck.postgres.sql.schema.Tables.TABLE_MIGRATION;
import static dev.coatcheck.postgres.sql.schema.Tables.TABLE_MIGRATION_SET_ASIDE;

import dev.coatcheck.core.name.WireNamed;
import dev.coatcheck.migrate.run.LeaseTable.Claim;
import dev.coatcheck.migrate.table.SetAside;
import dev.coatcheck.postgres.sql.Database;
import java.util.List;
import org.jooq.DSLContext;

/** The rows that could not be filled yet, as people see them; the source keeps all of them. */
final class SetAsideStore {
  private final Database database;

  SetAsideStore(Database database) {
    this.database = database;
  }

  List<SetAside> rows(long id) {
    return database.read("rows set aside", sql -> rows(sql, id));
  }

  static List<SetAside> rows(DSLContext sql, long id) {
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

  /** Replaces them, unless another runner has taken over. */
  void replace(Claim claim, List<SetAside> rows) {
    database.write(
        "rows set aside",
        sql -> {
          boolean isOurs =
              sql.selectFrom(TABLE_MIGRATION)
                  .where(TABLE_MIGRATION.MIGRATION_ID.eq(claim.id()))
                  .and(TABLE_MIGRATION.FENCE.eq(claim.fence()))
                  .forNoKeyUpdate()
                  .fetchOptional()
                  .isPresent();
          if (isOurs) {
            delete(sql, claim.id());
            rows.forEach(row -> insert(sql, claim.id(), row));
          }
          return isOurs;
        });
  }

  /** Forgets all of them: the keys that were kept for them went with the table's objects. */
  void clear(long id) {
    database.write(
        "rows set aside",
        sql -> {
          delete(sql, id);
          return sql.update(TABLE_MIGRATION)
              .set(TABLE_MIGRATION.ROWS_SET_ASIDE, 0L)
              .where(TABLE_MIGRATION.MIGRATION_ID.eq(id))
              .execute();
        });
  }

  private static void delete(DSLContext sql, long id) {
    sql.deleteFrom(TABLE_MIGRATION_SET_ASIDE)
        .where(TABLE_MIGRATION_SET_ASIDE.MIGRATION_ID.eq(id))
        .execute();
  }

  private static void insert(DSLContext sql, long id, SetAside row) {
    sql.insertInto(TABLE_MIGRATION_SET_ASIDE)
        .set(TABLE_MIGRATION_SET_ASIDE.MIGRATION_ID, id)
        .set(TABLE_MIGRATION_SET_ASIDE.LEGACY_ID, row.legacy())
        .set(TABLE_MIGRATION_SET_ASIDE.KEY, row.key())
        .set(TABLE_MIGRATION_SET_ASIDE.CAUSE, row.cause().wireName())
        .set(TABLE_MIGRATION_SET_ASIDE.ERROR, row.error())
        .execute();
  }
}
