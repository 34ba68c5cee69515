package dev.coatcheck.migrate.verify;

import dev.coatcheck.core.id.Token;
import dev.coatcheck.core.key.Key;
import dev.coatcheck.ids.alias.Alias;
import dev.coatcheck.ids.alias.AliasScheme;
import dev.coatcheck.ids.alias.AliasTable;
import dev.coatcheck.ids.alias.AliasTarget;
import dev.coatcheck.ids.mapping.PublicIdTable;
import dev.coatcheck.ids.mapping.TypedKey;
import dev.coatcheck.ids.registry.Type;
import dev.coatcheck.migrate.verify.RowStore.Row;
import dev.coatcheck.postgres.sql.Database;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Reads the mappings and aliases of rows in the gateway. */
final class PublishedStore {
  private final Database gateway;
  private final Type type;

  PublishedStore(Database gateway, Type type) {
    this.gateway = gateway;
    this.type = type;
  }

  /**
   * The public IDs of a legacy ID and of a key; null if there is none.
   *
   * @param isErased whether the public ID of the legacy ID was erased, so that there is none
   */
  record Published(@Nullable Token alias, @Nullable Token mapping, boolean isErased) {}

  /** The public IDs of rows that have a key and a positive ID, in the order of the rows. */
  List<Published> published(List<Row> rows) {
    List<Alias> aliases =
        rows.stream()
            .map(row -> Alias.of(type, AliasScheme.LEGACY, Long.toString(row.legacy())))
            .toList();
    List<TypedKey> keys =
        rows.stream().map(row -> TypedKey.of(type, new Key.Bigint(keyOf(row)))).toList();
    return gateway.read(
        "verify",
        sql -> {
          Map<Alias, AliasTarget> targets = AliasTable.targets(sql, aliases);
          Map<TypedKey, Token> tokens = new HashMap<>();
          PublicIdTable.byKey(sql, keys.stream().distinct().toList())
              .forEach((key, mapping) -> tokens.put(key, mapping.token()));
          return IntStream.range(0, rows.size())
              .mapToObj(i -> published(targets.get(aliases.get(i)), tokens.get(keys.get(i))))
              .toList();
        });
  }

  private static Published published(@Nullable AliasTarget alias, @Nullable Token mapping) {
    return switch (alias) {
      case null -> new Published(null, mapping, false);
      case AliasTarget.Issued(Token token) -> new Published(token, mapping, false);
      case AliasTarget.Erased _ -> new Published(null, mapping, true);
    };
  }

  List<Long> unmapped(List<Long> keys) {
    List<TypedKey> wanted =
        keys.stream().map(key -> TypedKey.of(type, new Key.Bigint(key))).toList();
    return gateway.read(
        "verify",
        sql -> {
          Set<TypedKey> mapped = PublicIdTable.byKey(sql, wanted).keySet();
          return IntStream.range(0, keys.size())
              .filter(i -> !mapped.contains(wanted.get(i)))
              .mapToObj(keys::get)
              .toList();
        });
  }

  private static long keyOf(Row row) {
    return Objects.requireNonNull(row.key());
  }
}
