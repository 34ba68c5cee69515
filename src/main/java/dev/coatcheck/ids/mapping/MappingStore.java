package dev.coatcheck.ids.mapping;

import static dev.coatcheck.postgres.sql.schema.Tables.PUBLIC_ID;
import static dev.coatcheck.postgres.sql.schema.Tables.PUBLIC_ID_UUID;
import static org.jooq.impl.DSL.field;
import static org.jooq.impl.DSL.val;

import dev.coatcheck.cluster.change.Replica;
import dev.coatcheck.core.id.Token;
import dev.coatcheck.core.key.Key;
import dev.coatcheck.core.key.KeyKind;
import dev.coatcheck.core.seal.Sealing;
import dev.coatcheck.ids.registry.Type;
import dev.coatcheck.postgres.connection.ConnectionDesync;
import dev.coatcheck.postgres.connection.Shards;
import dev.coatcheck.postgres.sql.Database;
import dev.coatcheck.postgres.sql.PlainSql;
import dev.coatcheck.postgres.sql.ReplicaPool;
import dev.coatcheck.postgres.sql.Unnest;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jooq.DSLContext;
import org.jooq.Table;

/** Reads mappings, with one statement for each call. */
final class MappingStore {
  private final Database database;
  private final Optional<Replica> replica;

  /** Reads from the primary only. */
  MappingStore(Database database) {
    this(database, Optional.empty());
  }

  /** Asks the replica first, and the primary for what the replica doesn't know as active. */
  MappingStore(Database database, Optional<Replica> replica) {
    this.database = database;
    this.replica = replica;
  }

  /**
   * The mappings of those subjects that have one. All are read at the replica or none: rows from
   * there are not kept while the others are searched for.
   */
  Map<TypedKey, StoredMapping> byKey(List<TypedKey> subjects) {
    List<StoredMapping> atReplica =
        atReplica(
            subjects.size(),
            true,
            (sql, query) -> List.copyOf(PublicIdTable.byKey(sql, query, subjects).values()));
    if (!atReplica.isEmpty()) {
      return atReplica.stream()
          .collect(Collectors.toMap(StoredMapping::subject, Function.identity()));
    }
    Map<TypedKey, StoredMapping> found =
        database.read("lookup", sql -> PublicIdTable.byKey(sql, subjects));
    noteEndings(found.values());
    return found;
  }

  /** The mappings of those subjects that are pinned; all are of closed eras. */
  Map<TypedKey, StoredMapping> pinned(List<TypedKey> subjects) {
    return database.read("lookup pinned", sql -> PinnedKeyTable.mappings(sql, subjects));
  }

  /** The row of each token; empty where it has none. All tokens lie in the table of the kind. */
  List<Optional<StoredMapping>> byTokensInOrder(KeyKind kind, List<Token> tokens) {
    Map<Token, StoredMapping> found =
        byTokens(kind, tokens.stream().distinct().toList()).stream()
            .collect(Collectors.toMap(StoredMapping::token, Function.identity()));
    return tokens.stream().map(token -> Optional.ofNullable(found.get(token))).toList();
  }

  /**
   * The rows of those tokens that have one; no token twice, and all lie in the table of the kind.
   */
  List<StoredMapping> byTokens(KeyKind kind, List<Token> wanted) {
    List<StoredMapping> found =
        new ArrayList<>(
            atReplica(wanted.size(), false, (sql, query) -> byTokens(sql, query, kind, wanted)));
    Set<Token> known = found.stream().map(StoredMapping::token).collect(Collectors.toSet());
    List<Token> missing = wanted.stream().filter(token -> !known.contains(token)).toList();
    if (!missing.isEmpty()) {
      List<StoredMapping> atPrimary =
          database.read("resolve", sql -> byTokens(sql, PlainSql::rows, kind, missing));
      noteEndings(atPrimary);
      found.addAll(atPrimary);
    }
    return found;
  }

  private static List<StoredMapping> byTokens(
      DSLContext sql, PlainSql.Query query, KeyKind kind, List<Token> wanted) {
    MappingTable<?> table = MappingTable.of(kind);
    return wanted.size() == 1
        ? PublicIdTable.byToken(sql, query, table, wanted.getFirst()).stream().toList()
        : PublicIdTable.byTokens(sql, query, table, wanted);
  }

  /** What a replica says only counts for active rows: how others ended is asked at the primary. */
  private List<StoredMapping> atReplica(
      int asked, boolean isWhole, ReplicaPool.Work<List<StoredMapping>> work) {
    return replica
        .map(
            one ->
                one.rows(
                    asked,
                    isWhole,
                    row ->
                        row.isActive() ? Optional.of(row.id().subjectOfChange()) : Optional.empty(),
                    work))
        .orElseGet(List::of);
  }

  private void noteEndings(Collection<StoredMapping> atPrimary) {
    for (StoredMapping row : atPrimary) {
      if (!row.isActive()) {
        noteEnding(row.id());
      }
    }
  }

  /** The ID has ended, and the replica may not know. */
  void noteEnding(TypedToken id) {
    replica.ifPresent(one -> one.note(id.subjectOfChange()));
  }

  /**
   * The states of rows of one table. Endings are read only for rows whose status says that there is
   * one.
   */
  List<MappingState.Known> states(KeyKind kind, List<StoredMapping> rows) {
    List<MappingState.Known> states = new ArrayList<>();
    List<StoredMapping> ended = new ArrayList<>();
    for (StoredMapping row : rows) {
      switch (row.status()) {
        case ACTIVE -> states.add(new MappingState.Active(row));
        case ERASED -> states.add(new MappingState.Erased(row));
        case REVOKED, MERGED -> ended.add(row);
      }
    }
    if (!ended.isEmpty()) {
      states.addAll(ended(MappingTable.of(kind), ended));
    }
    return states;
  }

  private List<MappingState.Known> ended(MappingTable<?> table, List<StoredMapping> rows) {
    return database.read(
        "resolve ended",
        sql -> {
          Map<TypedToken, StoredEnding> endings =
              EndingTable.withSurvivors(sql, rows.stream().map(StoredMapping::id).toList()).stream()
                  .collect(Collectors.toMap(StoredEnding::id, Function.identity()));
          List<Token> tokens =
              endings.values().stream()
                  .flatMap(ending -> ending.survivor().stream())
                  .map(TypedToken::token)
                  .distinct()
                  .toList();
          Map<TypedToken, StoredMapping> survivors =
              PublicIdTable.byTokens(sql, table, tokens).stream()
                  .collect(Collectors.toMap(StoredMapping::id, Function.identity()));
          return rows.stream().map(row -> ended(row, endings, survivors)).toList();
        });
  }

  private static MappingState.Known ended(
      StoredMapping row,
      Map<TypedToken, StoredEnding> endings,
      Map<TypedToken, StoredMapping> survivors) {
    StoredEnding ending =
        ConnectionDesync.required(endings.get(row.id()), "ended without an ending");
    if (ending.survivor().isEmpty()) {
      return new MappingState.Revoked(row, ending.reason(), ending.endedAt());
    }
    StoredEnding after = endings.get(ending.survivor().get());
    if (after != null) {
      return new MappingState.Revoked(row, after.reason(), after.endedAt());
    }
    StoredMapping survivor =
        ConnectionDesync.required(survivors.get(ending.survivor().get()), "merged into no row");
    return survivor.isErased() // between the two statements, and so was this row
        ? new MappingState.Erased(row)
        : new MappingState.Merged(row, survivor, ending.endedAt());
  }

  /** Counts up to {@code max}; beyond that Postgres's statistics of the columns are asked. */
  Map<Integer, Lookup.Count> counts(List<Type> types, int max) {
    Map<Integer, Lookup.Count> counts = new HashMap<>();
    types.stream()
        .collect(Collectors.groupingBy(Type::keyKind))
        .forEach(
            (kind, some) ->
                counts.putAll(
                    counts(kind == KeyKind.BIGINT ? PUBLIC_ID : PUBLIC_ID_UUID, some, max)));
    return counts;
  }

  private Map<Integer, Lookup.Count> counts(Table<?> table, List<Type> types, int max) {
    return database.read(
        "public IDs of types",
        sql ->
            Shards.of(sql).isOneTable()
                ? counts(sql, table, types, max)
                : types.stream()
                    .collect(
                        Collectors.toMap(
                            Type::number, type -> countOverShards(sql, table, type, max))));
  }

  /** The coordinator has no statistics of a distributed table. */
  private static Lookup.Count countOverShards(DSLContext sql, Table<?> table, Type type, int max) {
    long counted =
        PlainSql.row(
            sql,
            "select count(*) from (select 1 from coatcheck."
                + table.getName()
                + " where type_id = ? limit ?) as found",
            row -> row.getLong(1),
            type.number(),
            max + 1);
    return new Lookup.Count(counted, counted <= max);
  }

  private static Map<Integer, Lookup.Count> counts(
      DSLContext sql, Table<?> table, List<Type> types, int max) {
    return sql.resultQuery(
            """
            with known as (
              select value::integer as type_id, c.reltuples * frequency as estimate
                from pg_catalog.pg_class c
                join pg_catalog.pg_stats s on s.attname = 'type_id'
                     and s.schemaname = c.relnamespace::regnamespace::text
                     and s.tablename = c.relname,
                     unnest(s.most_common_vals::text::text[], s.most_common_freqs)
                       as common (value, frequency)
               where c.oid = {0}::regclass)
            select asked.type_id,
                   case when counted.number <= {2} then counted.number
                        else greatest(counted.number, known.estimate::bigint)
                   end as number,
                   counted.number <= {2} as is_exact
              from unnest({3}) as asked (type_id)
             cross join lateral (
               select count(*) as number
                 from (select 1 from {1} p where p.type_id = asked.type_id limit {4}) as found
               ) as counted
              left join known on known.type_id = asked.type_id
            """,
            val("coatcheck." + table.getName()),
            table,
            val(max),
            Unnest.integers(types, Type::number),
            val(max + 1))
        .coerce(
            field("type_id", Integer.class),
            field("number", Long.class),
            field("is_exact", Boolean.class))
        .fetchMap(row -> row.value1(), row -> new Lookup.Count(row.value2(), row.value3()));
  }

  /**
   * The rows of sealed keys of a type that have ended, in the order of their keys.
   *
   * @param span the keys to read
   * @param after where the page before ended
   */
  List<StoredMapping> sealedRows(Type type, Sealing.Span span, Optional<Key> after, int rowsMax) {
    MappingTable<?> table = MappingTable.of(type.keyKind());
    String statement =
        table.statement(
            "select "
                + MappingTable.COLUMNS
                + " from {table} where type_id = ? and status <> 0 and key > ? and key <= ?"
                + " order by type_id, key limit ?");
    return database.read(
        "sealed rows",
        sql ->
            PlainSql.rows(
                sql,
                statement,
                row -> table.read(row).orElseThrow(),
                type.number(),
                after.map(table::value).orElse(span.first() - 1),
                span.last(),
                rowsMax));
  }

  List<StoredEnding> mergedInto(TypedToken survivor, int rowsMax) {
    return database.read("merged", sql -> EndingTable.mergedInto(sql, survivor, rowsMax));
  }

  /** The rows of a type that the filter leaves, beginning at the cursor or with the newest. */
  List<StoredMapping> next(
      Type type, Lookup.Filter filter, Optional<Lookup.Cursor> cursor, int rowsMax) {
    MappingTable<?> table = MappingTable.of(type.keyKind());
    List<Object> values = new ArrayList<>(List.of(type.number()));
    StringBuilder text = new StringBuilder("select ").append(MappingTable.COLUMNS);
    text.append(" from {table} where type_id = ?");
    filter
        .status()
        // In the text, because only then an index of ended rows is known to hold all of them.
        .ifPresentOrElse(
            status -> text.append(" and status = ").append(status.number()),
            () -> text.append(" and status <> ").append(Mapping.Status.ERASED.number()));
    filter
        .within()
        .ifPresent(
            keys -> {
              text.append(" and key between ? and ?");
              values.add(table.value(keys.smallest()));
              values.add(table.value(keys.largest()));
            });
    boolean rises = cursor.filter(Lookup.Cursor::isEnd).isPresent();
    cursor.ifPresent(
        from -> {
          text.append(rises ? " and key > ?" : " and key < ?");
          values.add(table.value(from.key()));
        });
    text.append(
        rises ? " order by type_id, key limit ?" : " order by type_id desc, key desc limit ?");
    values.add(rowsMax);
    String statement = table.statement(text.toString());
    return database.read(
        "list",
        sql -> {
          List<StoredMapping> rows =
              PlainSql.rows(sql, statement, row -> table.read(row).orElseThrow(), values.toArray());
          ConnectionDesync.unless(
              rows.size() <= rowsMax
                  && rows.stream().allMatch(row -> row.typeNumber() == type.number())
                  && cursor.stream()
                      .flatMap(
                          from -> rows.stream().map(row -> TypedKey.compare(row.key(), from.key())))
                      .allMatch(order -> rises ? order > 0 : order < 0),
              "another list");
          return rows;
        });
  }
}
