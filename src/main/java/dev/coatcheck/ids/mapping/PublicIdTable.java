package dev.coatcheck.ids.mapping;

import dev.coatcheck.core.id.Token;
import dev.coatcheck.postgres.connection.ConnectionDesync;
import dev.coatcheck.postgres.connection.Shards;
import dev.coatcheck.postgres.sql.PlainSql;
import dev.coatcheck.postgres.sql.ShardedSql;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jooq.DSLContext;

/** Finds and locks the rows of mappings within transactions. */
public final class PublicIdTable {
  private static final ShardedSql BY_KEY =
      ShardedSql.of(
          """
          select found.key, found.created_at, found.token, found.type_id, found.status, wanted.ordinal
            from unnest(?, ?, ?) with ordinality as wanted (type_id, key, bucket, ordinal)
            left join lateral (
             select * from {table}
              where type_id = wanted.type_id and key = wanted.key and bucket = wanted.bucket
                and status <> 3 and {shard}
              limit 1) as found on true
          """,
          "bucket");

  /**
   * Forces an index look-up for each token. A plain join depends on statistics, which are wrong
   * just after an import.
   */
  private static final ShardedSql BY_TOKENS =
      ShardedSql.of(
          """
          select found.key, found.created_at, found.token, found.type_id, found.status, wanted.token
            from unnest(?, ?) as wanted (bucket, token)
            left join lateral (
             select * from {table}
              where bucket = wanted.bucket and token = wanted.token and {shard}
              limit 1) as found on true
          """,
          "bucket");

  private static final String BY_TOKEN =
      """
      select found.key, found.created_at, found.token, found.type_id, found.status, wanted.token
        from (select ?::uuid as token) as wanted
        left join {table} as found on found.bucket = ? and found.token = wanted.token
      """;

  private static final ShardedSql SHARE =
      ShardedSql.of(
          """
          select held.token
            from {table} as held join unnest(?, ?) as wanted (bucket, token) using (bucket, token)
           where held.status = 0 and {shard}
             for share of held
          """,
          "held.bucket");

  private static final ShardedSql ERASE =
      ShardedSql.of(
          """
          update {table} as row set key = erased.key, created_at = now(), status = 3
            from unnest(?, ?, ?) as erased (bucket, token, key)
           where row.bucket = erased.bucket and row.token = erased.token and {shard}
          """,
          "row.bucket");

  private static final String SEALED_ROW = "(?, ?, ?, ?, to_timestamp(?::bigint / 1000.0))";

  private static final ShardedSql LOCK =
      ShardedSql.of(
          """
          select held.key, held.created_at, held.token, held.type_id, held.status
            from {table} as held join unnest(?, ?) as wanted (bucket, token) using (bucket, token)
           where {shard}
             for update of held skip locked
          """,
          "held.bucket");

  /** Where what was asked for comes back, beside what was found, or beside nothing. */
  private static final int ASKED = 6;

  private PublicIdTable() {}

  /**
   * The rows of those subjects that have one; the list has no duplicates. The key of an erased
   * public ID is no row's.
   */
  public static Map<TypedKey, StoredMapping> byKey(DSLContext sql, List<TypedKey> subjects) {
    return byKey(sql, PlainSql::rows, subjects);
  }

  static Map<TypedKey, StoredMapping> byKey(
      DSLContext sql, PlainSql.Query query, List<TypedKey> subjects) {
    Map<TypedKey, StoredMapping> found = HashMap.newHashMap(subjects.size());
    subjects.stream()
        .collect(Collectors.groupingBy(subject -> subject.key().getClass()))
        .values()
        .forEach(some -> addByKey(sql, query, MappingTable.of(some.getFirst().key()), some, found));
    return found;
  }

  /** What was found for a part of the question. */
  private record Answered(long ordinal, Optional<StoredMapping> mapping) {}

  private static void addByKey(
      DSLContext sql,
      PlainSql.Query query,
      MappingTable<?> table,
      List<TypedKey> subjects,
      Map<TypedKey, StoredMapping> found) {
    // An ordinal counts the subjects of one statement.
    for (List<TypedKey> asked : Shards.of(sql).split(subjects, TypedKey::bucket)) {
      List<Answered> rows =
          BY_KEY.rows(
              sql,
              query,
              table::statement,
              row -> new Answered(row.getLong(ASKED), table.read(row)),
              asked,
              TypedKey::bucket,
              some ->
                  new Object[] {
                    some.stream().map(TypedKey::typeNumber).toArray(Integer[]::new),
                    table.keys(some, TypedKey::key),
                    some.stream().map(subject -> (short) subject.bucket()).toArray(Short[]::new)
                  });
      ConnectionDesync.unless(rows.size() == asked.size(), "rows of keys: " + rows.size());
      for (Answered row : rows) {
        ConnectionDesync.unless(
            row.ordinal() >= 1 && row.ordinal() <= asked.size(), "row without a question");
        row.mapping()
            .ifPresent(
                mapping -> {
                  ConnectionDesync.unless(
                      mapping.subject().equals(asked.get((int) row.ordinal() - 1)),
                      "row of another key");
                  found.put(mapping.subject(), mapping);
                });
      }
    }
  }

  /** What was found about a token. */
  private record Answer(UUID asked, Optional<StoredMapping> mapping) {
    static Answer read(MappingTable<?> table, ResultSet row) throws SQLException {
      return new Answer(row.getObject(ASKED, UUID.class), table.read(row));
    }

    Optional<StoredMapping> checked() {
      mapping.ifPresent(
          row ->
              ConnectionDesync.unless(row.token().toUuid().equals(asked), "row of another token"));
      return mapping;
    }
  }

  /** The rows of those tokens that have one, of one of the two tables; no token twice. */
  public static List<StoredMapping> byTokens(
      DSLContext sql, MappingTable<?> table, List<Token> wanted) {
    return byTokens(sql, PlainSql::rows, table, wanted);
  }

  static List<StoredMapping> byTokens(
      DSLContext sql, PlainSql.Query query, MappingTable<?> table, List<Token> wanted) {
    List<Answer> answers =
        BY_TOKENS.rows(
            sql,
            query,
            table::statement,
            row -> Answer.read(table, row),
            wanted,
            Token::bucket,
            PublicIdTable::bucketsAndTokens);
    ConnectionDesync.unless(answers.size() == wanted.size(), "rows of tokens: " + answers.size());
    Set<UUID> asked = wanted.stream().map(Token::toUuid).collect(Collectors.toSet());
    List<StoredMapping> found = new ArrayList<>(answers.size());
    for (Answer answer : answers) {
      ConnectionDesync.unless(asked.contains(answer.asked()), "row of another token");
      answer.checked().ifPresent(found::add);
    }
    return found;
  }

  /** Locks the rows of those tokens that have one and that no other transaction holds. */
  public static List<StoredMapping> lock(
      DSLContext sql, MappingTable<?> table, Collection<Token> wanted) {
    if (wanted.isEmpty()) {
      return List.of();
    }
    return LOCK.rows(
        sql,
        table::statement,
        row -> table.read(row).orElseThrow(),
        wanted,
        Token::bucket,
        PublicIdTable::bucketsAndTokens);
  }

  private static Object[] bucketsAndTokens(List<Token> tokens) {
    return new Object[] {
      tokens.stream().map(token -> (short) token.bucket()).toArray(Short[]::new),
      tokens.stream().map(Token::toUuid).toArray(UUID[]::new)
    };
  }

  /**
   * Keeps active rows as they are until the commit: none ends meanwhile. Waits for an end that is
   * under way.
   *
   * @return whether all of them are still active
   */
  public static boolean hold(DSLContext sql, Collection<StoredMapping> rows) {
    boolean areActive = true;
    for (MappingTable<?> table : MappingTable.all()) {
      List<Token> tokens =
          rows.stream()
              .filter(row -> table.holds(row.key()))
              .map(StoredMapping::token)
              .distinct()
              .toList();
      areActive &= tokens.isEmpty() || hold(sql, table, tokens) == tokens.size();
    }
    return areActive;
  }

  private static int hold(DSLContext sql, MappingTable<?> table, List<Token> tokens) {
    return SHARE
        .rows(
            sql,
            table::statement,
            row -> row.getObject(1, UUID.class),
            tokens,
            Token::bucket,
            PublicIdTable::bucketsAndTokens)
        .size();
  }

  /**
   * Writes rows of sealed public IDs, which have had none.
   *
   * @return whether no other transaction has written one of them meanwhile
   */
  public static boolean insertSealed(DSLContext sql, Collection<StoredMapping> sealed) {
    if (sealed.isEmpty()) {
      return true;
    }
    List<StoredMapping> rows =
        sealed.stream()
            .sorted(Comparator.comparing(StoredMapping::subject, TypedKey.LOCK_ORDER))
            .toList();
    MappingTable<?> table = MappingTable.of(rows.getFirst().key());
    return PlainSql.rows(
                sql,
                table.statement(
                    "insert into {table} (key, token, type_id, bucket, created_at) "
                        + ShardedSql.valuesOf(SEALED_ROW, rows.size())
                        + " on conflict do nothing returning token"),
                row -> row.getObject(1, UUID.class),
                rows.stream()
                    .flatMap(
                        row ->
                            Stream.<Object>of(
                                table.value(row.key()),
                                row.token().toUuid(),
                                row.typeNumber(),
                                (short) row.token().bucket(),
                                row.createdAt().toEpochMilli()))
                    .toArray())
            .size()
        == rows.size();
  }

  /** Takes the keys from rows of one table, and their times. Their tokens stay used. */
  public static void erase(DSLContext sql, MappingTable<?> table, List<StoredMapping> rows) {
    int _ =
        ERASE.execute(
            sql,
            table::statement,
            rows,
            row -> row.token().bucket(),
            some ->
                new Object[] {
                  some.stream().map(row -> (short) row.token().bucket()).toArray(Short[]::new),
                  some.stream().map(row -> row.token().toUuid()).toArray(UUID[]::new),
                  table.unusedKeys(some.size())
                });
  }

  /** The row of one token, as {@link #byTokens}. */
  static Optional<StoredMapping> byToken(
      DSLContext sql, PlainSql.Query query, MappingTable<?> table, Token token) {
    List<Answer> answers =
        query.rows(
            sql,
            table.statement(BY_TOKEN),
            row -> Answer.read(table, row),
            token.toUuid(),
            (short) token.bucket());
    ConnectionDesync.unless(
        answers.size() == 1 && token.toUuid().equals(answers.getFirst().asked()),
        "row of another token");
    return answers.getFirst().checked();
  }
}
