package dev.coatcheck.transfer;

import static dev.coatcheck.db.schema.Tables.ALIAS;
import static org.jooq.impl.DSL.val;

import dev.coatcheck.change.ChangeKind;
import dev.coatcheck.change.ChangeTable;
import dev.coatcheck.db.Database;
import dev.coatcheck.db.Unnest;
import dev.coatcheck.id.Token;
import dev.coatcheck.key.KeyScheme;
import dev.coatcheck.mapping.Alias;
import dev.coatcheck.mapping.AliasScheme;
import dev.coatcheck.mapping.Mapping;
import dev.coatcheck.mapping.MappingTable;
import dev.coatcheck.mapping.Resolver;
import dev.coatcheck.mapping.Subject;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jooq.DSLContext;
import org.jooq.QueryPart;
import org.jooq.exception.DataAccessException;
import org.postgresql.PGConnection;
import org.postgresql.copy.CopyIn;

/**
 * All SQL of imports. A chunk is one transaction, and its rows travel by COPY. What is there is
 * looked up row by row along an index, in lateral subqueries with a limit: as a plain join it is up
 * to the statistics, and just after an import there are none.
 */
final class ImportStore {
  private static final String UNIQUE_VIOLATION = "23505";
  private static final int SLICE_BYTES = 64 * 1024;

  private final Database database;

  ImportStore(Database database) {
    this.database = database;
  }

  /**
   * Inserts all of it, or nothing.
   *
   * @return false if a key, a token or a legacy ID is there already, or comes twice
   */
  boolean insert(CopyBatch batch, boolean givesIds) {
    try {
      database.write(
          "import",
          sql -> {
            copy(sql, batch);
            announce(sql, givesIds);
            return true;
          });
      return true;
    } catch (DataAccessException refused) {
      return isTaken(refused);
    }
  }

  /**
   * Reads what is there of the rows, plans by it, and inserts the plan.
   *
   * @return empty if meanwhile somebody else inserted one of them
   */
  Optional<Plan> insertBeside(List<ImportRow> rows, Function<Existing, Plan> planner) {
    try {
      return Optional.of(
          database.write(
              "import",
              sql -> {
                Plan plan = planner.apply(existing(sql, rows));
                copy(sql, CopyBatch.of(plan));
                announce(sql, ImportRow.giveIds(rows));
                return plan;
              }));
    } catch (DataAccessException refused) {
      isTaken(refused);
      return Optional.empty();
    }
  }

  /** Public IDs that came from elsewhere may have been asked for, and be known not to be there. */
  private static void announce(DSLContext sql, boolean givesIds) {
    if (givesIds) {
      ChangeTable.append(sql, ChangeKind.ENDING, List.of(Resolver.IMPORTED));
    }
  }

  /** False for a unique constraint; all else is thrown on. */
  private static boolean isTaken(DataAccessException refused) {
    if (isUniqueViolation(refused)) {
      return false;
    }
    throw refused;
  }

  static boolean isUniqueViolation(DataAccessException refused) {
    return UNIQUE_VIOLATION.equals(refused.sqlState());
  }

  static void copy(DSLContext sql, CopyBatch batch) {
    sql.connection(
        connection -> {
          for (CopyBatch.Part part : batch.parts()) {
            copy(connection, part);
          }
        });
  }

  private static void copy(Connection connection, CopyBatch.Part part) throws SQLException {
    CopyIn copy = connection.unwrap(PGConnection.class).getCopyAPI().copyIn(part.copy());
    try {
      CopyRows rows = part.rows();
      for (int at = 0; at < rows.length(); at += SLICE_BYTES) {
        copy.writeToCopy(rows.bytes(), at, Math.min(SLICE_BYTES, rows.length() - at));
      }
      copy.endCopy();
    } finally {
      if (copy.isActive()) {
        copy.cancelCopy();
      }
    }
  }

  static Existing existing(DSLContext sql, List<ImportRow> rows) {
    Existing existing = new Existing();
    Map<KeyScheme, List<ImportRow>> byScheme =
        rows.stream().collect(Collectors.groupingBy(row -> row.type().keyScheme()));
    byScheme.forEach((scheme, some) -> addExisting(sql, MappingTable.of(scheme), some, existing));
    return existing;
  }

  private static <K> void addExisting(
      DSLContext sql, MappingTable<K> table, List<ImportRow> rows, Existing into) {
    List<Token> targets = addNames(sql, rows, into);
    List<Subject> subjects = new ArrayList<>(rows.size());
    for (ImportRow row : rows) {
      if (row.key() != null) {
        subjects.add(Subject.of(row.type(), row.key()));
      }
    }
    add(
        sql,
        table,
        """
        select m.* from unnest({1}, {2}, {3}) as wanted (type_id, key, bucket)
        cross join lateral (
          select key, token, type_id, bucket, status from {0} as r
          where r.type_id = wanted.type_id and r.key = wanted.key
            and r.bucket = wanted.bucket limit 1) as m
        """,
        into,
        List.of(
            table.table(),
            Unnest.integers(subjects, Subject::typeNumber),
            table.keys(subjects, Subject::key),
            Unnest.shorts(subjects, Subject::bucket)));
    List<Token> tokens =
        Stream.concat(
                targets.stream(), rows.stream().flatMap(row -> Stream.ofNullable(row.token())))
            .distinct()
            .toList();
    if (!tokens.isEmpty()) {
      add(
          sql,
          table,
          """
          select m.* from unnest({1}, {2}) as wanted (bucket, token)
          cross join lateral (
            select key, token, type_id, bucket, status from {0} as r
            where r.bucket = wanted.bucket and r.token = wanted.token limit 1) as m
          """,
          into,
          List.of(
              table.table(),
              Unnest.shorts(tokens, Token::bucket),
              Unnest.uuids(tokens, Token::toUuid)));
    }
  }

  private static <K> void add(
      DSLContext sql, MappingTable<K> table, String query, Existing into, List<QueryPart> parts) {
    sql.resultQuery(query, parts.toArray(QueryPart[]::new))
        .coerce(table.key(), table.token(), table.typeNumber(), table.bucket(), table.status())
        .forEach(
            row ->
                into.add(
                    new Existing.Held(
                        new Subject(row.value3(), table.toKey().apply(row.value1()), row.value4()),
                        Token.of(row.value2()),
                        Mapping.Status.of(row.value5()))));
  }

  /** Adds the legacy IDs that are there; returns whose they are. */
  private static List<Token> addNames(DSLContext sql, List<ImportRow> rows, Existing into) {
    List<Alias> names = rows.stream().flatMap(row -> Stream.ofNullable(row.legacy())).toList();
    List<Token> targets = new ArrayList<>();
    if (names.isEmpty()) {
      return targets;
    }
    sql.resultQuery(
            """
            select a.* from unnest({0}, {1}, {2}) as wanted (type_id, bucket, value)
            cross join lateral (
              select r.type_id, r.value, r.bucket, r.token from coatcheck.alias as r
              where r.bucket = wanted.bucket and r.type_id = wanted.type_id
                and r.scheme = {3} and r.value = wanted.value limit 1) as a
            """,
            Unnest.integers(names, Alias::typeNumber),
            Unnest.shorts(names, Alias::bucket),
            Unnest.texts(names, Alias::value),
            val(AliasScheme.LEGACY.wireName()))
        .coerce(ALIAS.TYPE_ID, ALIAS.VALUE, ALIAS.BUCKET, ALIAS.TOKEN)
        .forEach(
            row -> {
              Token target = Token.of(row.value4());
              into.add(
                  new Alias(row.value1(), AliasScheme.LEGACY, row.value2(), row.value3()), target);
              targets.add(target);
            });
    return targets;
  }
}
