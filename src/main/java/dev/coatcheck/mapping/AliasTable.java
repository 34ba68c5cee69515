package dev.coatcheck.mapping;

import static dev.coatcheck.db.schema.Tables.ALIAS;
import static java.util.Objects.requireNonNull;
import static org.jooq.impl.DSL.table;

import dev.coatcheck.db.Unnest;
import dev.coatcheck.id.Token;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jooq.DSLContext;

/** The rows of aliases, for use inside transactions. */
public final class AliasTable {
  private AliasTable() {}

  /** The rows of those names that belong to somebody, ended ones included. */
  public static Map<Alias, StoredMapping> mappings(DSLContext sql, List<Alias> names) {
    Map<Alias, Token> targets = targets(sql, names);
    Map<Token, StoredMapping> rows = new HashMap<>();
    if (!targets.isEmpty()) {
      List<Token> tokens = targets.values().stream().distinct().toList();
      for (MappingTable<?> table : MappingTable.all()) {
        PublicIdTable.byTokens(sql, table, tokens).forEach(row -> rows.put(row.token(), row));
      }
    }
    Map<Alias, StoredMapping> found = new HashMap<>();
    targets.forEach(
        (alias, token) -> {
          StoredMapping row = rows.get(token);
          if (row == null) {
            throw new IllegalStateException("alias without its mapping: " + token);
          }
          found.put(alias, row);
        });
    return found;
  }

  /**
   * Writes names, each unless it is taken.
   *
   * @param names in {@link Alias#LOCK_ORDER}
   * @return how many were written
   */
  public static int insert(DSLContext sql, List<Alias> names, Function<Alias, Token> target) {
    return sql.execute(
        """
        insert into {0} (bucket, type_id, scheme, value, token)
        select * from unnest({1}, {2}, {3}, {4}, {5})
        on conflict do nothing
        """,
        ALIAS,
        Unnest.shorts(names, Alias::bucket),
        Unnest.integers(names, Alias::typeNumber),
        Unnest.texts(names, name -> name.scheme().wireName()),
        Unnest.texts(names, Alias::value),
        Unnest.uuids(names, name -> target.apply(name).toUuid()));
  }

  static Map<Alias, Token> targets(DSLContext sql, List<Alias> names) {
    record Name(int typeNumber, String scheme, String value) {}
    Map<Name, Alias> asked =
        names.stream()
            .collect(
                Collectors.toMap(
                    alias -> new Name(alias.typeNumber(), alias.scheme().wireName(), alias.value()),
                    Function.identity()));
    Map<Alias, Token> found = new HashMap<>();
    sql.select(ALIAS.TYPE_ID, ALIAS.SCHEME, ALIAS.VALUE, ALIAS.TOKEN)
        .from(ALIAS)
        .join(
            table(
                "unnest({0}, {1}, {2}, {3}) as wanted (bucket, type_id, scheme, value)",
                Unnest.shorts(names, Alias::bucket),
                Unnest.integers(names, Alias::typeNumber),
                Unnest.texts(names, name -> name.scheme().wireName()),
                Unnest.texts(names, Alias::value)))
        .using(ALIAS.BUCKET, ALIAS.TYPE_ID, ALIAS.SCHEME, ALIAS.VALUE)
        .forEach(
            row ->
                found.put(
                    requireNonNull(asked.get(new Name(row.value1(), row.value2(), row.value3()))),
                    Token.of(row.value4())));
    return found;
  }
}
