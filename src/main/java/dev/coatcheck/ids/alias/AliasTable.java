package dev.coatcheck.ids.alias;

import static dev.coatcheck.postgres.sql.schema.Tables.ALIAS;
import static org.jooq.impl.DSL.val;

import dev.coatcheck.cluster.audit.AuditEntry;
import dev.coatcheck.cluster.audit.AuditTable;
import dev.coatcheck.core.id.Token;
import dev.coatcheck.core.key.KeyKind;
import dev.coatcheck.core.name.WireNamed;
import dev.coatcheck.ids.registry.Namespace;
import dev.coatcheck.ids.registry.Type;
import dev.coatcheck.postgres.connection.ConnectionDesync;
import dev.coatcheck.postgres.connection.Shards;
import dev.coatcheck.postgres.sql.PlainSql;
import dev.coatcheck.postgres.sql.ShardedSql;
import dev.coatcheck.postgres.sql.Unnest;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jooq.DSLContext;
import org.jspecify.annotations.Nullable;

/** The rows of aliases, for use inside transactions. */
public final class AliasTable {
  /**
   * Each name is looked up along the index: as a plain join it is up to the statistics, and just
   * after an import those may say anything.
   */
  private static final ShardedSql TARGETS =
      ShardedSql.of(
          """
          select wanted.ordinal, wanted.type_id, wanted.scheme, wanted.namespace, wanted.value,
                 found.token, {erased}
            from unnest(?, ?, ?, ?, ?, ?) with ordinality
              as wanted (bucket, type_id, scheme, value, namespace, hash, ordinal)
            left join lateral (
             select token from coatcheck.alias
              where bucket = wanted.bucket and type_id = wanted.type_id
                and scheme = wanted.scheme and value = wanted.value
                and namespace = wanted.namespace and {shard}
              limit 1) as found on true
          """,
          "bucket");

  /** Not for shards: the table is on the coordinator. */
  private static final String ERASED =
      """
      (select hash from coatcheck.erased_alias
        where type_id = wanted.type_id and hash = wanted.hash)
      """;

  /**
   * The lateral join makes Postgres use the index, even if it has no statistics of the table. No
   * row moves meanwhile, because aliases are never updated.
   */
  private static final String DELETE_ALL =
      """
      delete from coatcheck.alias
       where ctid = any(array(
         select found.ctid from unnest(?) as wanted (token) cross join lateral (
          select ctid from coatcheck.alias
           where token = wanted.token and type_id = ? offset 0) as found))
      returning token, scheme, namespace, value
      """;

  private static final String OF_TOKENS =
      """
      select token, scheme, namespace, value from coatcheck.alias
       where token = any(?) and type_id = ?
      """;

  private static final ShardedSql DELETE =
      ShardedSql.of(
          """
          delete from coatcheck.alias as row
           using unnest(?, ?, ?, ?, ?, ?)
              as erased (bucket, type_id, scheme, value, namespace, token)
           where row.bucket = erased.bucket and row.type_id = erased.type_id
             and row.scheme = erased.scheme and row.value = erased.value
             and row.namespace = erased.namespace and row.token = erased.token and {shard}
          """,
          "row.bucket");

  private AliasTable() {}

  /**
   * Writes names, each unless it is taken.
   *
   * @param names in their order
   * @param targets of the names
   * @return how many were written
   */
  public static int insert(DSLContext sql, List<Alias> names, List<Token> targets) {
    if (!Shards.of(sql).isOneTable()) {
      return insertOverShards(sql, names, targets);
    }
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

  private static int insertOverShards(DSLContext sql, List<Alias> names, List<Token> targets) {
    return PlainSql.execute(
        sql,
        "insert into coatcheck.alias (bucket, type_id, scheme, value, namespace, token) "
            + ShardedSql.valuesOf("(?, ?, ?, ?, ?, ?)", names.size())
            + " on conflict do nothing",
        IntStream.range(0, names.size())
            .boxed()
            .sorted(Comparator.comparingInt(i -> names.get(i).bucket()))
            .flatMap(
                i ->
                    Stream.<Object>of(
                        (short) names.get(i).bucket(),
                        names.get(i).typeNumber(),
                        names.get(i).scheme().wireName(),
                        names.get(i).value(),
                        names.get(i).namespace().stored(),
                        targets.get(i).toUuid()))
            .toArray());
  }

  /** Removes a name if it is one of the target; false, and nothing is removed, if it isn't. */
  static boolean delete(DSLContext sql, Alias name, Token target) {
    return delete(sql, List.of(new Named(target, name))) == 1;
  }

  /** Names of a target, in any order: to sort them, all would have to be read. */
  static List<Alias> of(DSLContext sql, Type type, Token target, int namesMax) {
    if (!Shards.of(sql).isOneTable()) {
      return ofEachShard(sql, type, target, namesMax);
    }
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

  /** A name may be in any shard: its bucket is that of its value. */
  private static List<Alias> ofEachShard(DSLContext sql, Type type, Token target, int namesMax) {
    return sql.select(ALIAS.SCHEME, ALIAS.NAMESPACE, ALIAS.VALUE)
        .from(ALIAS)
        .where(ALIAS.TOKEN.eq(target.toUuid()).and(ALIAS.TYPE_ID.eq(type.number())))
        .limit(namesMax)
        .fetch(row -> name(type, row.value1(), new Namespace(row.value2()), row.value3()));
  }

  /**
   * Gives a public ID an alias.
   *
   * @param added for the audit, if it is given
   * @return empty if the alias is there already
   */
  static Optional<Aliases.Outcome> add(
      DSLContext sql, Type type, Token token, Alias alias, AuditEntry added) {
    if (!hold(sql, type, token)) {
      return Optional.of(Aliases.Outcome.ENDED);
    }
    if (insert(sql, List.of(alias), List.of(token)) == 0) {
      return Optional.empty();
    }
    if (ErasedAliasTable.isAny(sql, List.of(alias))) {
      boolean _ = delete(sql, alias, token);
      return Optional.of(Aliases.Outcome.ERASED);
    }
    AuditTable.append(sql, List.of(added));
    return Optional.of(Aliases.Outcome.ADDED);
  }

  /**
   * Keeps an active public ID as it is until the commit, so that it gets no alias while it is
   * erased. False if there is none. A sealed one is active unless it has a row that says otherwise.
   */
  private static boolean hold(DSLContext sql, Type type, Token token) {
    String table = type.keyKind() == KeyKind.BIGINT ? "public_id" : "public_id_uuid";
    List<Boolean> areActive =
        PlainSql.rows(
            sql,
            "select status = 0 from coatcheck."
                + table
                + " where bucket = ? and token = ? and type_id = ? for share",
            row -> row.getBoolean(1),
            (short) token.bucket(),
            token.toUuid(),
            type.number());
    return areActive.isEmpty() ? type.isSealed(token) : areActive.getFirst();
  }

  /** A name, and the public ID that has it. */
  private record Named(Token token, Alias name) {}

  /** Replaces all names of public IDs by their hashes; returns the names that they had. */
  public static Map<Token, List<Alias>> erase(DSLContext sql, Type type, List<Token> tokens) {
    boolean isOneTable = Shards.of(sql).isOneTable();
    List<Named> erased =
        PlainSql.rows(
            sql,
            isOneTable ? DELETE_ALL : OF_TOKENS,
            row ->
                new Named(
                    Token.of(row.getObject(1, UUID.class)),
                    name(
                        type, row.getString(2), new Namespace(row.getString(3)), row.getString(4))),
            tokens.stream().map(Token::toUuid).toArray(UUID[]::new),
            type.number());
    if (!isOneTable) {
      // The mappings are locked, so that no name was added since these were read.
      int _ = delete(sql, erased);
    }
    List<Alias> names = erased.stream().map(Named::name).toList();
    ErasedAliasTable.insert(sql, names);
    return erased.stream()
        .collect(
            Collectors.groupingBy(
                Named::token, Collectors.mapping(Named::name, Collectors.toList())));
  }

  private static int delete(DSLContext sql, List<Named> named) {
    return DELETE.execute(
        sql,
        text -> text,
        named,
        row -> row.name().bucket(),
        some ->
            columns(
                some.stream().map(Named::name).toList(),
                some.stream().map(row -> row.token().toUuid())));
  }

  private static Object[] columns(List<Alias> names, Stream<UUID> last) {
    return new Object[] {
      names.stream().map(name -> (short) name.bucket()).toArray(Short[]::new),
      names.stream().map(Alias::typeNumber).toArray(Integer[]::new),
      names.stream().map(name -> name.scheme().wireName()).toArray(String[]::new),
      names.stream().map(Alias::value).toArray(String[]::new),
      names.stream().map(name -> name.namespace().stored()).toArray(String[]::new),
      last.toArray(UUID[]::new)
    };
  }

  private static Alias name(Type type, String scheme, Namespace namespace, String value) {
    AliasScheme known = WireNamed.find(AliasScheme.class, scheme).orElseThrow();
    return known == AliasScheme.CLIENT
        ? Alias.client(type, namespace, value)
        : Alias.of(type, known, value);
  }

  /** What was found for a name. */
  private record Found(
      long ordinal,
      int typeNumber,
      String scheme,
      String namespace,
      String value,
      @Nullable UUID token,
      @Nullable UUID erasedHash) {
    static Found read(ResultSet row) throws SQLException {
      return new Found(
          row.getLong(1),
          row.getInt(2),
          row.getString(3),
          row.getString(4),
          row.getString(5),
          row.getObject(6, UUID.class),
          row.getObject(7, UUID.class));
    }

    boolean isOf(Alias name) {
      return typeNumber == name.typeNumber()
          && scheme.equals(name.scheme().wireName())
          && namespace.equals(name.namespace().stored())
          && value.equals(name.value());
    }
  }

  /** What those of the names stand for that are taken. */
  public static Map<Alias, AliasTarget> targets(DSLContext sql, List<Alias> names) {
    Shards shards = Shards.of(sql);
    String erasedHash = shards.isOneTable() ? ERASED : "null::uuid";
    Map<Alias, AliasTarget> found = HashMap.newHashMap(names.size());
    // An ordinal counts the names of one statement.
    for (List<Alias> asked : shards.split(names, Alias::bucket)) {
      List<Found> rows =
          TARGETS.rows(
              sql,
              text -> text.replace("{erased}", erasedHash),
              Found::read,
              asked,
              Alias::bucket,
              some -> columns(some, some.stream().map(Alias::hash)));
      ConnectionDesync.unless(rows.size() == asked.size(), "rows of names: " + rows.size());
      for (Found row : rows) {
        ConnectionDesync.unless(
            row.ordinal() >= 1 && row.ordinal() <= asked.size(), "name without a question");
        Alias name = asked.get((int) row.ordinal() - 1);
        ConnectionDesync.unless(row.isOf(name), "another name");
        if (row.token() != null) {
          found.put(name, new AliasTarget.Issued(Token.of(row.token())));
        } else if (row.erasedHash() != null) {
          found.put(name, new AliasTarget.Erased());
        }
      }
    }
    if (!shards.isOneTable()) {
      ErasedAliasTable.of(sql, names.stream().filter(name -> !found.containsKey(name)).toList())
          .forEach(name -> found.put(name, new AliasTarget.Erased()));
    }
    return found;
  }
}
