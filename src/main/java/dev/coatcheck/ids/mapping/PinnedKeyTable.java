package dev.coatcheck.ids.mapping;

import dev.coatcheck.core.id.Token;
import dev.coatcheck.core.key.Key;
import dev.coatcheck.core.key.KeyKind;
import dev.coatcheck.postgres.connection.ConnectionDesync;
import dev.coatcheck.postgres.sql.PlainSql;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jooq.DSLContext;

/**
 * Which public IDs the keys of closed eras have. The bucket of a mapping is that of its token,
 * which can't be computed without the seal key, so these rows are in the bucket of the key.
 */
public final class PinnedKeyTable {
  private static final String FIND =
      """
      select wanted.ordinal, pinned.token
        from unnest(?, ?, ?) with ordinality as wanted (bucket, type_id, key, ordinal)
        join coatcheck.pinned_key as pinned using (bucket, type_id, key)
      """;

  private static final String INSERT =
      """
      insert into coatcheck.pinned_key (bucket, type_id, key, token)
      select * from unnest(?, ?, ?, ?) on conflict do nothing
      """;

  private static final String DELETE =
      """
      delete from coatcheck.pinned_key using unnest(?, ?, ?) as gone (bucket, type_id, key)
       where pinned_key.bucket = gone.bucket and pinned_key.type_id = gone.type_id
         and pinned_key.key = gone.key
      """;

  private PinnedKeyTable() {}

  private record Pinned(long ordinal, Token token) {}

  /**
   * The tokens of those subjects that are pinned.
   *
   * @param subjects bigint keys with the buckets of stored keys, none twice
   */
  public static Map<TypedKey, Token> tokens(DSLContext sql, List<TypedKey> subjects) {
    Map<TypedKey, Token> found = new HashMap<>();
    for (Pinned row :
        PlainSql.rows(
            sql,
            FIND,
            row -> new Pinned(row.getLong(1), Token.of(row.getObject(2, UUID.class))),
            buckets(subjects),
            types(subjects),
            keys(subjects))) {
      ConnectionDesync.unless(
          row.ordinal() >= 1 && row.ordinal() <= subjects.size(), "row without a question");
      found.put(subjects.get((int) row.ordinal() - 1), row.token());
    }
    return found;
  }

  /** The mappings of those subjects that are pinned, by the subjects as they were asked for. */
  public static Map<TypedKey, StoredMapping> mappings(DSLContext sql, List<TypedKey> subjects) {
    Map<TypedKey, Token> tokens = tokens(sql, subjects);
    if (tokens.isEmpty()) {
      return Map.of();
    }
    Map<TypedToken, StoredMapping> rows =
        PublicIdTable.byTokens(
                sql, MappingTable.of(KeyKind.BIGINT), tokens.values().stream().distinct().toList())
            .stream()
            .collect(Collectors.toMap(StoredMapping::id, Function.identity()));
    Map<TypedKey, StoredMapping> found = new HashMap<>();
    tokens.forEach(
        (subject, token) -> {
          StoredMapping row = rows.get(new TypedToken(subject.typeNumber(), token));
          if (row != null && row.key().equals(subject.key())) { // erased in between, otherwise
            found.put(subject, row);
          }
        });
    return found;
  }

  /**
   * Pins keys, each unless it is pinned already.
   *
   * @param tokens by the subjects, which have the buckets of stored keys
   */
  public static void insert(DSLContext sql, Map<TypedKey, Token> tokens) {
    if (tokens.isEmpty()) {
      return;
    }
    List<Map.Entry<TypedKey, Token>> rows =
        tokens.entrySet().stream().sorted(Map.Entry.comparingByKey(TypedKey.LOCK_ORDER)).toList();
    List<TypedKey> subjects = rows.stream().map(Map.Entry::getKey).toList();
    PlainSql.execute(
        sql,
        INSERT,
        buckets(subjects),
        types(subjects),
        keys(subjects),
        rows.stream().map(row -> row.getValue().toUuid()).toArray(UUID[]::new));
  }

  /** Forgets keys; whether they are pinned doesn't matter. */
  public static void delete(DSLContext sql, List<TypedKey> subjects) {
    if (!subjects.isEmpty()) {
      PlainSql.execute(sql, DELETE, buckets(subjects), types(subjects), keys(subjects));
    }
  }

  private static Short[] buckets(List<TypedKey> subjects) {
    return subjects.stream().map(subject -> (short) subject.bucket()).toArray(Short[]::new);
  }

  private static Integer[] types(List<TypedKey> subjects) {
    return subjects.stream().map(TypedKey::typeNumber).toArray(Integer[]::new);
  }

  private static Long[] keys(List<TypedKey> subjects) {
    return subjects.stream()
        .map(subject -> ((Key.Bigint) subject.key()).value())
        .toArray(Long[]::new);
  }
}
