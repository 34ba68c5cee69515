package dev.coatcheck.bulk.export;

import dev.coatcheck.ids.alias.AliasScheme;
import dev.coatcheck.ids.mapping.MappingTable;
import dev.coatcheck.ids.registry.Namespace;
import dev.coatcheck.ids.registry.Type;
import dev.coatcheck.postgres.sql.PlainSql;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jooq.DSLContext;

/**
 * Exports distributed tables page by page: first the mappings in the order of their keys, then
 * their aliases, which may be on any shard. There is no snapshot over several machines, so the
 * export may have a mapping that is minted meanwhile, or lack it.
 */
final class ExportPageTable {
  private static final int PAGE_ROWS = 2_000;

  private static final String PAGE =
      """
      select key, (extract(epoch from created_at) * 1000000)::bigint, token, status
        from {table}
       where type_id = ? and status <> 3 and (? or status = 0){after}
       order by key limit ?
      """;

  private static final String ALIASES =
      """
      select token, scheme, value, namespace from coatcheck.alias
       where token = any(?) and type_id = ? and scheme in ('legacy', 'client')
      """;

  private ExportPageTable() {}

  private record Mapped(Object key, long createdAtMicros, UUID token, int status) {
    static Mapped read(ResultSet row) throws SQLException {
      return new Mapped(
          row.getObject(1), row.getLong(2), row.getObject(3, UUID.class), row.getInt(4));
    }

    ExportWriter.Row with(Name legacy, Name client) {
      return new ExportWriter.Row(
          key.toString(),
          createdAtMicros,
          token,
          legacy.value(),
          status,
          client.value(),
          new Namespace(client.namespace()));
    }
  }

  private record Name(UUID token, String scheme, String value, String namespace) {}

  static void write(DSLContext sql, Type type, boolean includeEnded, ExportWriter writer) {
    List<Mapped> page = page(sql, type, includeEnded, List.of());
    while (!page.isEmpty()) {
      write(sql, type, page, writer);
      page = page(sql, type, includeEnded, List.of(page.getLast().key()));
    }
  }

  /** The page after a key; the first page if there is none. */
  private static List<Mapped> page(
      DSLContext sql, Type type, boolean includeEnded, List<Object> after) {
    List<Object> values = new ArrayList<>(List.of(type.number(), includeEnded));
    values.addAll(after);
    values.add(PAGE_ROWS);
    String statement = MappingTable.of(type.keyKind()).statement(PAGE);
    return PlainSql.rows(
        sql,
        statement.replace("{after}", after.isEmpty() ? "" : " and key > ?"),
        Mapped::read,
        values.toArray());
  }

  private static void write(DSLContext sql, Type type, List<Mapped> page, ExportWriter writer) {
    Map<UUID, List<Name>> legacy = new HashMap<>();
    Map<UUID, List<Name>> client = new HashMap<>();
    PlainSql.rows(
            sql,
            ALIASES,
            row ->
                new Name(
                    row.getObject(1, UUID.class),
                    row.getString(2),
                    row.getString(3),
                    row.getString(4)),
            page.stream().map(Mapped::token).toArray(UUID[]::new),
            type.number())
        .forEach(
            name ->
                (name.scheme().equals(AliasScheme.LEGACY.wireName()) ? legacy : client)
                    .computeIfAbsent(name.token(), _ -> new ArrayList<>())
                    .add(name));
    try {
      for (Mapped row : page) {
        List<Name> none = List.of(new Name(row.token(), "", "", ""));
        for (Name one : legacy.getOrDefault(row.token(), none)) {
          for (Name other : client.getOrDefault(row.token(), none)) {
            writer.write(row.with(one, other));
          }
        }
      }
    } catch (IOException stopped) {
      throw new UncheckedIOException(stopped);
    }
  }
}
