package dev.coatcheck.ids.mint;

import static org.jooq.impl.DSL.table;

import dev.coatcheck.ids.mapping.MappingTable;
import dev.coatcheck.ids.mapping.TypedKey;
import dev.coatcheck.ids.mapping.TypedToken;
import dev.coatcheck.postgres.connection.ConnectionDesync;
import dev.coatcheck.postgres.sql.PlainSql;
import java.time.Instant;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jooq.DSLContext;

/** Writes the rows of mappings, for use inside transactions. */
final class NewMappingTable {
  private static final String INSERT =
      """
      insert into {table} (key, token, type_id, bucket)
      select * from unnest(?, ?, ?, ?) {conflict}
      returning token, created_at
      """;

  private static final String UNLESS_TAKEN = INSERT.replace("{conflict}", "on conflict do nothing");
  private static final String ALL_OR_NONE = INSERT.replace("{conflict}", "");

  private NewMappingTable() {}

  /**
   * Writes the rows of one transaction, each unless its key or its token is taken.
   *
   * @return when each of the written ones was created
   */
  static Map<TypedToken, Instant> insert(DSLContext sql, List<NewMapping> rows) {
    Map<TypedToken, Instant> inserted = HashMap.newHashMap(rows.size());
    List<NewMapping> inLockOrder =
        rows.stream()
            .sorted(Comparator.comparing(NewMapping::subject, TypedKey.LOCK_ORDER))
            .toList();
    for (MappingTable<?> table : MappingTable.all()) {
      List<NewMapping> some =
          inLockOrder.stream().filter(row -> table.holds(row.subject().key())).toList();
      if (!some.isEmpty()) {
        insert(sql, table, UNLESS_TAKEN, some, inserted);
      }
    }
    return inserted;
  }

  /**
   * Writes rows of which none is expected to be there, in a statement that takes Postgres two
   * thirds of the time.
   *
   * @param rows at least one, all with keys of one scheme
   * @return when each was created
   * @throws org.jooq.exception.DataAccessException a unique violation if a key or a token is taken;
   *     nothing was written then
   */
  static Map<TypedToken, Instant> insertAllOrNone(DSLContext sql, List<NewMapping> rows) {
    Map<TypedToken, Instant> inserted = HashMap.newHashMap(rows.size());
    insert(sql, MappingTable.of(rows.getFirst().subject().key()), ALL_OR_NONE, rows, inserted);
    ConnectionDesync.unless(inserted.size() == rows.size(), "rows inserted: " + inserted.size());
    return inserted;
  }

  private record Inserted(UUID token, Instant createdAt) {}

  private static void insert(
      DSLContext sql,
      MappingTable<?> table,
      String statement,
      List<NewMapping> rows,
      Map<TypedToken, Instant> into) {
    // A token has one row in a table.
    Map<UUID, NewMapping> wanted = HashMap.newHashMap(rows.size());
    rows.forEach(row -> wanted.put(row.token().toUuid(), row));
    List<Inserted> all =
        PlainSql.rows(
            sql,
            table.statement(statement),
            row -> new Inserted(row.getObject(1, UUID.class), PlainSql.instant(row, 2)),
            table.keys(rows, row -> row.subject().key()),
            rows.stream().map(row -> row.token().toUuid()).toArray(UUID[]::new),
            rows.stream().map(row -> row.subject().typeNumber()).toArray(Integer[]::new),
            rows.stream().map(row -> (short) row.subject().bucket()).toArray(Short[]::new));
    for (Inserted one : all) {
      NewMapping row =
          ConnectionDesync.required(wanted.get(one.token()), "another's row was inserted");
      into.put(new TypedToken(row.subject().typeNumber(), row.token()), one.createdAt());
    }
  }
}
