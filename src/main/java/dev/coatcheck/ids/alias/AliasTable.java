package dev.coatcheck.ids.alias;

import static dev.coatcheck.postgres.sql.schema.Tables.ALIAS;
import static org.jooq.impl.DSL.field;
import static org.jooq.impl.DSL.val;

import dev.coatcheck.core.id.Token;
import dev.coatcheck.core.name.WireNamed;
import dev.coatcheck.ids.registry.Namespace;
import dev.coatcheck.ids.registry.Type;
import dev.coatcheck.postgres.connection.ConnectionDesync;
import dev.coatcheck.postgres.sql.Unnest;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jooq.DSLContext;
import org.jooq.Field;

/** The rows of aliases, for use inside transactions. */
public final class AliasTable {
  private static final Field<Integer> ORDINAL = field("ordinal", Integer.class);

  private AliasTable() {}

  /**
   * Writes names, each unless it is taken.
   *
   * @param names in their order
   * @param targets of the names
   * @return how many were written
   */
  public static int insert(DSLContext sql, List<Alias> names, List<Token> targets) {
    return sql.execute(
        """
        insert into {0} (bucket, type_id, scheme, value, namespace, token)
        select * from unnest({1}, {2}, {3}, {4}, {5}, {6})
        on conflict do nothing
        """,
        ALIAS,
        Unnest.shorts(names, Alias::bucket),
        Unnest.integers(names, Alias::typeNumber),
        Unnest.texts(names, name -> name.scheme().wireName()),
        Unnest.texts(names, Alias::value),
        Unnest.texts(names, name -> name.namespace().stored()),
        Unnest.uuids(targets, Token::toUuid));
  }

  /** Removes a name if it is one of the target; false, and nothing is removed, if it isn't. */
  static boolean delete(DSLContext sql, Alias name, Token target) {
    return sql.deleteFrom(ALIAS)
            .where(
                ALIAS
                    .BUCKET
                    .eq((short) name.bucket())
                    .and(ALIAS.TYPE_ID.eq(name.typeNumber()))
                    .and(ALIAS.SCHEME.eq(name.scheme().wireName()))
                    .and(ALIAS.VALUE.eq(name.value()))
                    .and(ALIAS.NAMESPACE.eq(name.namespace().stored()))
                    .and(ALIAS.TOKEN.eq(target.toUuid())))
            .execute()
        == 1;
  }

  /** Names of a target, in any order: to sort them, all would have to be read. */
  static List<Alias> of(DSLContext sql, Type type, Token target, int namesMax) {
    var rows =
        sql.resultQuery(
                """
                select wanted.token, found.scheme, found.namespace, found.value
                  from (select {1}::uuid as token) as wanted
                  left join lateral (
                   select scheme, namespace, value from {0}
                    where token = wanted.token and type_id = {2}
                    limit {3}) as found on true
                """,
                ALIAS, val(target.toUuid()), val(type.number()), val(namesMax))
            .coerce(ALIAS.TOKEN, ALIAS.SCHEME, ALIAS.NAMESPACE, ALIAS.VALUE)
            .fetch();
    ConnectionDesync.unless(
        !rows.isEmpty()
            && rows.size() <= namesMax
            && rows.stream().allMatch(row -> row.value1().equals(target.toUuid())),
        "names of another target");
    return rows.stream()
        .filter(row -> row.value2() != null)
        .map(row -> name(type, row.value2(), new Namespace(row.value3()), row.value4()))
        .toList();
  }

  private static Alias name(Type type, String scheme, Namespace namespace, String value) {
    AliasScheme known = WireNamed.find(AliasScheme.class, scheme).orElseThrow();
    return known == AliasScheme.CLIENT
        ? Alias.client(type, namespace, value)
        : Alias.of(type, known, value);
  }

  /**
   * The tokens of those names that are taken. Each name is looked up along the index: as a plain
   * join it is up to the statistics, and just after an import those may say anything.
   */
  public static Map<Alias, Token> targets(DSLContext sql, List<Alias> names) {
    Map<Alias, Token> found = HashMap.newHashMap(names.size());
    var rows =
        sql.resultQuery(
                """
                select wanted.ordinal, wanted.type_id, wanted.scheme, wanted.namespace, wanted.value,
                       found.token
                  from unnest({1}, {2}, {3}, {4}, {5}) with ordinality
                    as wanted (bucket, type_id, scheme, value, namespace, ordinal)
                  left join lateral (
                   select token from {0}
                    where bucket = wanted.bucket and type_id = wanted.type_id
                      and scheme = wanted.scheme and value = wanted.value
                      and namespace = wanted.namespace
                    limit 1) as found on true
                """,
                ALIAS,
                Unnest.shorts(names, Alias::bucket),
                Unnest.integers(names, Alias::typeNumber),
                Unnest.texts(names, name -> name.scheme().wireName()),
                Unnest.texts(names, Alias::value),
                Unnest.texts(names, name -> name.namespace().stored()))
            .coerce(ORDINAL, ALIAS.TYPE_ID, ALIAS.SCHEME, ALIAS.NAMESPACE, ALIAS.VALUE, ALIAS.TOKEN)
            .fetch();
    ConnectionDesync.unless(rows.size() == names.size(), "rows of names: " + rows.size());
    for (var row : rows) {
      int ordinal = row.value1();
      ConnectionDesync.unless(ordinal >= 1 && ordinal <= names.size(), "name without a question");
      Alias name = names.get(ordinal - 1);
      ConnectionDesync.unless(
          row.value2() == name.typeNumber()
              && row.value3().equals(name.scheme().wireName())
              && row.value4().equals(name.namespace().stored())
              && row.value5().equals(name.value()),
          "another name");
      if (row.value6() != null) {
        found.put(name, Token.of(row.value6()));
      }
    }
    return found;
  }
}
