package dev.coatcheck.ids.alias;

import static dev.coatcheck.postgres.sql.schema.Tables.ALIAS;
import static org.jooq.impl.DSL.field;

import dev.coatcheck.core.id.Token;
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
