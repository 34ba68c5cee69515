package dev.coatcheck.mapping;

import static org.jooq.impl.DSL.row;
import static org.jooq.impl.DSL.table;
import static org.jooq.impl.DSL.val;

import dev.coatcheck.db.Database;
import dev.coatcheck.id.Token;
import dev.coatcheck.key.Key;
import dev.coatcheck.key.KeyBounds;
import dev.coatcheck.registry.Type;
import java.time.Instant;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.stream.Collectors;
import org.jooq.DSLContext;
import org.jooq.Field;
import org.jooq.impl.DSL;

/**
 * All SQL about mappings. Many rows travel as arrays, so that a statement has one text whatever
 * their number, and Postgres keeps its plan.
 */
final class MappingStore {
  private static final int TOKEN_DRAWS_MAX = 5;

  /**
   * One order for everyone, so that two batches can't wait for each other. Rising keys keep the key
   * index dense: by bucket, a mapping took 13 bytes more.
   */
  private static final Comparator<Subject> LOCK_ORDER =
      Comparator.comparingInt(Subject::typeNumber)
          .thenComparing(subject -> subject.key().toBytes(), Arrays::compareUnsigned);

  private final Database database;
  private final IntFunction<Token> drawToken;

  /** Draws tokens from {@code drawToken}, which takes a bucket. */
  MappingStore(Database database, IntFunction<Token> drawToken) {
    this.database = database;
    this.drawToken = drawToken;
  }

  /** The row of a subject, and whether this transaction inserted it. */
  record Settled(StoredMapping mapping, boolean created) {}

  /** Gives each subject its row in one transaction: the one that was there, or a new one. */
  Map<Subject, Settled> settle(List<Subject> subjects) {
    Map<MappingTable<?>, List<Subject>> byTable =
        subjects.stream()
            .sorted(LOCK_ORDER)
            .collect(Collectors.groupingBy(subject -> MappingTable.of(subject.key())));
    return database.write(
        "mint",
        sql -> {
          Map<Subject, Settled> settled = HashMap.newHashMap(subjects.size());
          byTable.forEach((table, some) -> settle(sql, table, some, settled));
          return settled;
        });
  }

  /** A token that another key has already (2^-118 a try) is drawn again. */
  private <K> void settle(
      DSLContext sql, MappingTable<K> table, List<Subject> subjects, Map<Subject, Settled> into) {
    List<Subject> open = subjects;
    for (int draw = 0; !open.isEmpty(); draw++) {
      if (draw == TOKEN_DRAWS_MAX) {
        throw new IllegalStateException("tokens were taken " + TOKEN_DRAWS_MAX + " times");
      }
      List<Candidate> candidates =
          open.stream().map(subject -> Candidate.draw(subject, drawToken)).toList();
      Map<Token, Instant> inserted = insert(sql, table, candidates);
      for (Candidate candidate : candidates) {
        Instant createdAt = inserted.get(candidate.token());
        if (createdAt != null) {
          into.put(candidate.subject(), new Settled(candidate.insertedAt(createdAt), true));
        }
      }
      if (inserted.size() == candidates.size()) {
        return;
      }
      byKey(sql, table, unsettled(open, into))
          .forEach((subject, present) -> into.put(subject, new Settled(present, false)));
      open = unsettled(open, into);
    }
  }

  private static List<Subject> unsettled(List<Subject> subjects, Map<Subject, Settled> settled) {
    return subjects.stream().filter(subject -> !settled.containsKey(subject)).toList();
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
  Map<Subject, StoredMapping> byKey(List<Subject> subjects) {
    Map<Subject, StoredMapping> found = HashMap.newHashMap(subjects.size());
    subjects.stream()
        .collect(Collectors.groupingBy(subject -> MappingTable.of(subject.key())))
        .forEach(
            (table, some) -> found.putAll(database.read("lookup", sql -> byKey(sql, table, some))));
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

  /** The row of one token, of the table that the type's keys lie in. */
  Optional<StoredMapping> byToken(Type type, Token token) {
    return database.read("resolve", sql -> byToken(sql, MappingTable.of(type.keyScheme()), token));
  }

  private static <K> Optional<StoredMapping> byToken(
      DSLContext sql, MappingTable<K> table, Token token) {
    return sql.select(table.columns())
        .from(table.table())
        .where(table.bucket().eq((short) token.bucket()), table.token().eq(token.toUuid()))
        .fetchOptional(table.mapper());
  }

  /** The rows of those tokens that have one; all tokens lie in the table of one key scheme. */
  List<StoredMapping> byTokens(MappingTable<?> table, List<Token> wanted) {
    return database.read(
        "resolve",
        sql ->
            sql.select(table.columns())
                .from(table.table())
                .join(
                    table(
                        "unnest({0}, {1}) as wanted (bucket, token)",
                        buckets(wanted, Token::bucket), tokens(wanted, Function.identity())))
                .using(table.bucket(), table.token())
                .fetch(table.mapper()));
  }

  /** The newest rows of a type: those within the bounds and below {@code before}, where given. */
  List<StoredMapping> newest(
      Type type, Optional<KeyBounds> within, Optional<Key> before, int rowsMax) {
    return database.read(
        "list",
        sql -> newest(sql, MappingTable.of(type.keyScheme()), type, within, before, rowsMax));
  }

  private static <K> List<StoredMapping> newest(
      DSLContext sql,
      MappingTable<K> table,
      Type type,
      Optional<KeyBounds> within,
      Optional<Key> before,
      int rowsMax) {
    return sql.select(table.columns())
        .from(table.table())
        .where(table.typeNumber().eq(type.number()))
        .and(
            within
                .map(keys -> table.between(keys.smallest(), keys.largest()))
                .orElse(DSL.noCondition()))
        .and(before.map(table::below).orElse(DSL.noCondition()))
        .orderBy(table.typeNumber().desc(), table.key().desc())
        .limit(rowsMax)
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
