package dev.coatcheck.mapping;

import static org.jooq.impl.DSL.table;
import static org.jooq.impl.DSL.val;

import dev.coatcheck.id.Token;
import dev.coatcheck.key.Key;
import java.time.Instant;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jooq.DSLContext;
import org.jooq.Field;

/**
 * The rows of mappings, for use inside transactions. Many rows travel as arrays, so that a
 * statement has one text whatever their number, and Postgres keeps its plan.
 */
public final class PublicIdTable {
  /**
   * One order for everyone, so that two batches can't wait for each other. Rising keys keep the key
   * index dense: by bucket, a mapping took 13 bytes more.
   */
  private static final Comparator<Subject> LOCK_ORDER =
      Comparator.comparingInt(Subject::typeNumber)
          .thenComparing(subject -> subject.key().toBytes(), Arrays::compareUnsigned);

  private PublicIdTable() {}

  /**
   * Writes the rows of one transaction, each unless its key or its token is taken.
   *
   * @return when each of the written ones was created
   */
  public static Map<Token, Instant> insert(DSLContext sql, List<Candidate> rows) {
    Map<Token, Instant> inserted = HashMap.newHashMap(rows.size());
    Map<MappingTable<?>, List<Candidate>> byTable =
        rows.stream()
            .sorted(Comparator.comparing(Candidate::subject, LOCK_ORDER))
            .collect(Collectors.groupingBy(row -> MappingTable.of(row.subject().key())));
    for (MappingTable<?> table : MappingTable.all()) {
      List<Candidate> some = byTable.get(table);
      if (some != null) {
        inserted.putAll(insert(sql, table, some));
      }
    }
    return inserted;
  }

  private static <K> Map<Token, Instant> insert(
      DSLContext sql, MappingTable<K> table, List<Candidate> rows) {
    return sql.resultQuery(
            """
            insert into {0} (key, token, type_id, bucket)
            select * from unnest({1}, {2}, {3}, {4})
            on conflict do nothing
            returning token, created_at
            """,
            table.table(),
            keys(table, rows, candidate -> candidate.subject().key()),
            tokens(rows, Candidate::token),
            typeNumbers(rows, Candidate::subject),
            buckets(rows, candidate -> candidate.subject().bucket()))
        .coerce(table.token(), table.createdAt())
        .fetchMap(inserted -> Token.of(inserted.value1()), inserted -> inserted.value2());
  }

  /** The rows of those subjects that have one. */
  public static Map<Subject, StoredMapping> byKey(DSLContext sql, List<Subject> subjects) {
    Map<Subject, StoredMapping> found = HashMap.newHashMap(subjects.size());
    subjects.stream()
        .collect(Collectors.groupingBy(subject -> MappingTable.of(subject.key())))
        .forEach((table, some) -> found.putAll(byKey(sql, table, some)));
    return found;
  }

  private static <K> Map<Subject, StoredMapping> byKey(
      DSLContext sql, MappingTable<K> table, List<Subject> subjects) {
    return sql
        .select(table.columns())
        .from(table.table())
        .join(
            table(
                "unnest({0}, {1}, {2}) as wanted (type_id, key, bucket)",
                typeNumbers(subjects, Function.identity()),
                keys(table, subjects, Subject::key),
                buckets(subjects, Subject::bucket)))
        .using(table.typeNumber(), table.key(), table.bucket())
        .fetch(table.mapper())
        .stream()
        .collect(Collectors.toMap(StoredMapping::subject, Function.identity()));
  }

  /** The rows of those tokens that have one, of one of the two tables. */
  static List<StoredMapping> byTokens(DSLContext sql, MappingTable<?> table, List<Token> wanted) {
    return sql.select(table.columns())
        .from(table.table())
        .join(
            table(
                "unnest({0}, {1}) as wanted (bucket, token)",
                buckets(wanted, Token::bucket), tokens(wanted, Function.identity())))
        .using(table.bucket(), table.token())
        .fetch(table.mapper());
  }

  private static <K, T> Field<K[]> keys(MappingTable<K> table, List<T> rows, Function<T, Key> key) {
    return val(
        rows.stream().map(row -> table.fromKey().apply(key.apply(row))).toArray(table.newArray()));
  }

  private static <T> Field<Integer[]> typeNumbers(List<T> rows, Function<T, Subject> subject) {
    return val(rows.stream().map(row -> subject.apply(row).typeNumber()).toArray(Integer[]::new));
  }

  private static <T> Field<Short[]> buckets(List<T> rows, Function<T, Integer> bucket) {
    return val(rows.stream().map(row -> bucket.apply(row).shortValue()).toArray(Short[]::new));
  }

  private static <T> Field<UUID[]> tokens(List<T> rows, Function<T, Token> token) {
    return val(rows.stream().map(row -> token.apply(row).toUuid()).toArray(UUID[]::new));
  }
}
