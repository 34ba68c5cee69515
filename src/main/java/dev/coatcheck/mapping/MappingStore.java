package dev.coatcheck.mapping;

import dev.coatcheck.db.Database;
import dev.coatcheck.id.Token;
import dev.coatcheck.key.Key;
import dev.coatcheck.key.KeyBounds;
import dev.coatcheck.registry.Type;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jooq.DSLContext;
import org.jooq.impl.DSL;

/** Reads mappings, each time in a statement of its own. */
final class MappingStore {
  private final Database database;

  MappingStore(Database database) {
    this.database = database;
  }

  /** The rows of those subjects that have one. */
  Map<Subject, StoredMapping> byKey(List<Subject> subjects) {
    return database.read("lookup", sql -> PublicIdTable.byKey(sql, subjects));
  }

  /** The row of one token. */
  Optional<StoredMapping> byToken(MappingTable<?> table, Token token) {
    return database.read("resolve", sql -> byToken(sql, table, token));
  }

  private static <K> Optional<StoredMapping> byToken(
      DSLContext sql, MappingTable<K> table, Token token) {
    return sql.select(table.columns())
        .from(table.table())
        .where(table.bucket().eq((short) token.bucket()), table.token().eq(token.toUuid()))
        .fetchOptional(table.mapper());
  }

  /** The rows of those tokens that have one; all tokens lie in the table of one key scheme. */
  List<StoredMapping> byTokens(MappingTable<?> table, List<Token> wanted) {
    return database.read("resolve", sql -> PublicIdTable.byTokens(sql, table, wanted));
  }

  /** The newest rows of a type: those within the bounds and below {@code before}, where given. */
  List<StoredMapping> newest(
      Type type, Optional<KeyBounds> within, Optional<Key> before, int rowsMax) {
    return database.read(
        "list",
        sql -> newest(sql, MappingTable.of(type.keyScheme()), type, within, before, rowsMax));
  }

  private static <K> List<StoredMapping> newest(
      DSLContext sql,
      MappingTable<K> table,
      Type type,
      Optional<KeyBounds> within,
      Optional<Key> before,
      int rowsMax) {
    return sql.select(table.columns())
        .from(table.table())
        .where(table.typeNumber().eq(type.number()))
        .and(
            within
                .map(keys -> table.between(keys.smallest(), keys.largest()))
                .orElse(DSL.noCondition()))
        .and(before.map(table::below).orElse(DSL.noCondition()))
        .orderBy(table.typeNumber().desc(), table.key().desc())
        .limit(rowsMax)
        .fetch(table.mapper());
  }
}
