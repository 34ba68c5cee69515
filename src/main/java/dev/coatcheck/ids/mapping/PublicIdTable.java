package dev.coatcheck.ids.mapping;

import static java.util.Objects.requireNonNull;

import dev.coatcheck.core.id.Token;
import dev.coatcheck.postgres.sql.UnaskedRow;
import dev.coatcheck.postgres.sql.Unnest;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import org.jooq.DSLContext;
import org.jooq.Field;
import org.jooq.Record;
import org.jooq.Result;
import org.jooq.impl.DSL;

/** The rows of mappings, for use inside transactions. */
public final class PublicIdTable {
  private static final Field<Long> PLACE = DSL.field("place", Long.class);

  /** What was asked for, which comes back beside what was found, or beside nothing. */
  private static final Field<UUID> ASKED = DSL.field("asked", UUID.class);

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
            .sorted(Comparator.comparing(Candidate::subject, Subject.LOCK_ORDER))
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
    Set<UUID> wanted = rows.stream().map(row -> row.token().toUuid()).collect(Collectors.toSet());
    return sql.resultQuery(
            """
            insert into {0} (key, token, type_id, bucket)
            select * from unnest({1}, {2}, {3}, {4})
            on conflict do nothing
            returning token, created_at
            """,
            table.table(),
            table.keys(rows, row -> row.subject().key()),
            Unnest.uuids(rows, row -> row.token().toUuid()),
            Unnest.integers(rows, row -> row.subject().typeNumber()),
            Unnest.shorts(rows, row -> row.subject().bucket()))
        .coerce(table.token(), table.createdAt())
        .fetchMap(
            inserted -> {
              UnaskedRow.unless(wanted.contains(inserted.value1()), "another's row was inserted");
              return Token.of(inserted.value1());
            },
            inserted -> inserted.value2());
  }

  /** The rows of those subjects that have one; none twice. */
  public static Map<Subject, StoredMapping> byKey(DSLContext sql, List<Subject> subjects) {
    Map<Subject, StoredMapping> found = HashMap.newHashMap(subjects.size());
    subjects.stream()
        .collect(Collectors.groupingBy(subject -> subject.key().getClass()))
        .values()
        .forEach(some -> addByKey(sql, MappingTable.of(some.getFirst().key()), some, found));
    return found;
  }

  private static <K> void addByKey(
      DSLContext sql,
      MappingTable<K> table,
      List<Subject> subjects,
      Map<Subject, StoredMapping> found) {
    Result<Record> rows =
        sql.resultQuery(
                """
                select found.key, found.created_at, found.token, found.type_id, found.status,
                       wanted.place
                  from unnest({1}, {2}, {3}) with ordinality
                    as wanted (type_id, key, bucket, place)
                  left join lateral (
                   select * from {0}
                    where type_id = wanted.type_id and key = wanted.key and bucket = wanted.bucket
                    limit 1) as found on true
                """,
                table.table(),
                Unnest.integers(subjects, Subject::typeNumber),
                table.keys(subjects, Subject::key),
                Unnest.shorts(subjects, Subject::bucket))
            .coerce(table.columnsAnd(PLACE))
            .fetch();
    UnaskedRow.unless(rows.size() == subjects.size(), "rows of keys: " + rows.size());
    for (Record row : rows) {
      if (row.get(table.token()) != null) {
        StoredMapping mapping = requireNonNull(table.mapper().map(row));
        UnaskedRow.unless(mapping.subject().equals(subject(subjects, row)), "row of another key");
        found.put(mapping.subject(), mapping);
      }
    }
  }

  private static Subject subject(List<Subject> asked, Record row) {
    long place = row.get(PLACE);
    UnaskedRow.unless(place >= 1 && place <= asked.size(), "row in no place");
    return asked.get((int) place - 1);
  }

  /**
   * The rows of those tokens that have one, of one of the two tables; no token twice. Each is
   * looked for along the index: as a plain join it is up to the statistics, and just after an
   * import there are none.
   */
  public static List<StoredMapping> byTokens(
      DSLContext sql, MappingTable<?> table, List<Token> wanted) {
    Result<Record> rows =
        sql.resultQuery(
                """
                select found.key, found.created_at, found.token, found.type_id, found.status,
                       wanted.token as asked
                  from unnest({1}, {2}) as wanted (bucket, token)
                  left join lateral (
                   select * from {0} where bucket = wanted.bucket and token = wanted.token
                    limit 1) as found on true
                """,
                table.table(),
                Unnest.shorts(wanted, Token::bucket),
                Unnest.uuids(wanted, Token::toUuid))
            .coerce(table.columnsAnd(ASKED))
            .fetch();
    Set<UUID> asked = wanted.stream().map(Token::toUuid).collect(Collectors.toSet());
    UnaskedRow.unless(rows.size() == wanted.size(), "rows of tokens: " + rows.size());
    List<StoredMapping> found = new ArrayList<>(rows.size());
    for (Record row : rows) {
      UnaskedRow.unless(asked.contains(row.get(ASKED)), "row of another token");
      found(table, row).ifPresent(found::add);
    }
    return found;
  }

  /** The row of one token, as {@link #byTokens}. */
  static Optional<StoredMapping> byToken(DSLContext sql, MappingTable<?> table, Token token) {
    Result<Record> rows =
        sql.resultQuery(
                """
                select found.key, found.created_at, found.token, found.type_id, found.status,
                       wanted.token as asked
                  from (select {2} as token) as wanted
                  left join {0} as found on found.bucket = {1} and found.token = wanted.token
                """,
                table.table(), DSL.val((short) token.bucket()), DSL.val(token.toUuid()))
            .coerce(table.columnsAnd(ASKED))
            .fetch();
    UnaskedRow.unless(
        rows.size() == 1 && token.toUuid().equals(rows.getFirst().get(ASKED)),
        "row of another token");
    return found(table, rows.getFirst());
  }

  /** The mapping in a row that says which token was asked for, if there is one. */
  private static Optional<StoredMapping> found(MappingTable<?> table, Record row) {
    UUID token = row.get(table.token());
    if (token == null) {
      return Optional.empty();
    }
    UnaskedRow.unless(token.equals(row.get(ASKED)), "row of another token");
    return Optional.ofNullable(table.mapper().map(row));
  }
}
