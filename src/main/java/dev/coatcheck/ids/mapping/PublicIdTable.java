package dev.coatcheck.ids.mapping;

import dev.coatcheck.core.id.Token;
import dev.coatcheck.postgres.sql.Unnest;
import java.time.Instant;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jooq.DSLContext;

/** The rows of mappings, for use inside transactions. */
public final class PublicIdTable {
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
        .fetchMap(inserted -> Token.of(inserted.value1()), inserted -> inserted.value2());
  }

  /** The rows of those subjects that have one. */
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
    sql.resultQuery(
            """
            select found.key, found.created_at, found.token, found.type_id, found.status
              from unnest({1}, {2}, {3}) as wanted (type_id, key, bucket)
             cross join lateral (
               select * from {0}
                where type_id = wanted.type_id and key = wanted.key and bucket = wanted.bucket
                limit 1) as found
            """,
            table.table(),
            Unnest.integers(subjects, Subject::typeNumber),
            table.keys(subjects, Subject::key),
            Unnest.shorts(subjects, Subject::bucket))
        .coerce(table.columns())
        .fetch(table.mapper())
        .forEach(row -> found.put(row.subject(), row));
  }

  /**
   * The rows of those tokens that have one, of one of the two tables. Each is looked for along the
   * index: as a plain join it is up to the statistics, and just after an import there are none.
   */
  public static List<StoredMapping> byTokens(
      DSLContext sql, MappingTable<?> table, List<Token> wanted) {
    return sql.resultQuery(
            """
            select found.key, found.created_at, found.token, found.type_id, found.status
              from unnest({1}, {2}) as wanted (bucket, token)
             cross join lateral (
               select * from {0} where bucket = wanted.bucket and token = wanted.token
                limit 1) as found
            """,
            table.table(),
            Unnest.shorts(wanted, Token::bucket),
            Unnest.uuids(wanted, Token::toUuid))
        .coerce(table.columns())
        .fetch(table.mapper());
  }
}
