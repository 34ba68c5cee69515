package dev.coatcheck.bulk.load;

import dev.coatcheck.cluster.change.ChangeKind;
import dev.coatcheck.cluster.change.ChangeTable;
import dev.coatcheck.core.id.Token;
import dev.coatcheck.core.key.KeyKind;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.ids.alias.Alias;
import dev.coatcheck.ids.alias.AliasTable;
import dev.coatcheck.ids.mapping.MappingTable;
import dev.coatcheck.ids.mapping.PublicIdTable;
import dev.coatcheck.ids.mapping.Resolver;
import dev.coatcheck.ids.mapping.TypedKey;
import dev.coatcheck.postgres.connection.DatabaseSettings;
import dev.coatcheck.postgres.connection.SqlState;
import dev.coatcheck.postgres.session.Session;
import dev.coatcheck.postgres.sql.Copy;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jooq.DSLContext;
import org.jooq.exception.DataAccessException;
import org.jspecify.annotations.Nullable;

/**
 * Writes an import, on a connection of its own that ends with it. A chunk is one transaction, and
 * its rows travel by COPY.
 */
final class ImportStore implements AutoCloseable {
  private final DatabaseSettings settings;
  private final Observer observer;
  private Optional<Session> session = Optional.empty();

  /** Connects when the first chunk is there: a sender may take its time. */
  ImportStore(DatabaseSettings settings, Observer observer) {
    this.settings = settings;
    this.observer = observer;
  }

  @Override
  public void close() {
    session.ifPresent(Session::close);
  }

  /**
   * Inserts all of it, or nothing.
   *
   * @return false if a key, a token or a legacy ID is there already, or comes twice
   */
  boolean insert(CopyBatch batch, boolean givesIds) {
    try {
      return write(
          sql -> {
            copy(sql, batch);
            announce(sql, givesIds);
            return true;
          });
    } catch (DataAccessException refused) {
      return isTaken(refused);
    }
  }

  /**
   * Reads what is there of the rows, plans by it, and inserts the plan.
   *
   * @return empty if another transaction inserted one of them meanwhile
   */
  Optional<Plan> insertBeside(List<ImportRow> rows, Function<Existing, Plan> planner) {
    try {
      return Optional.of(
          write(
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

  private <T> T write(Function<DSLContext, T> work) {
    if (session.isEmpty()) {
      session = Optional.of(Session.openForRequest(settings, "coatcheck import", observer));
    }
    return session
        .get()
        .write(
            "import",
            sql -> {
              sql.execute("set local statement_timeout = '60s'");
              sql.execute("set local lock_timeout = '30s'");
              return work.apply(sql);
            });
  }

  /** Public IDs that came from elsewhere may have been asked for, and be known not to be there. */
  private static void announce(DSLContext sql, boolean givesIds) {
    if (givesIds) {
      ChangeTable.append(sql, ChangeKind.ENDING, List.of(Resolver.IMPORTED));
    }
  }

  /** False for a unique constraint; all else is thrown on. */
  private static boolean isTaken(DataAccessException refused) {
    if (SqlState.isUniqueViolation(refused)) {
      return false;
    }
    throw refused;
  }

  static void copy(DSLContext sql, CopyBatch batch) {
    for (CopyBatch.Part part : batch.parts()) {
      Copy.in(sql, part.copy(), part.rows().bytes(), part.rows().length());
    }
  }

  static Existing existing(DSLContext sql, List<ImportRow> rows) {
    Existing existing = new Existing();
    Map<KeyKind, List<ImportRow>> byKind =
        rows.stream().collect(Collectors.groupingBy(row -> row.type().keyKind()));
    byKind.forEach((kind, some) -> addExisting(sql, kind, some, existing));
    return existing;
  }

  private static void addExisting(
      DSLContext sql, KeyKind kind, List<ImportRow> rows, Existing into) {
    List<Alias> names = rows.stream().flatMap(row -> row.names().stream()).distinct().toList();
    Map<Alias, Token> targets = names.isEmpty() ? Map.of() : AliasTable.targets(sql, names);
    targets.forEach(into::add);
    List<TypedKey> subjects =
        every(rows, row -> row.key() == null ? null : TypedKey.of(row.type(), row.key()));
    PublicIdTable.byKey(sql, subjects).values().forEach(into::add);
    List<Token> tokens =
        Stream.concat(targets.values().stream(), every(rows, ImportRow::token).stream())
            .distinct()
            .filter(token -> into.withToken(kind, token) == null) // else found by its key
            .toList();
    if (!tokens.isEmpty()) {
      PublicIdTable.byTokens(sql, MappingTable.of(kind), tokens).forEach(into::add);
    }
  }

  /** A part of those rows that have it. */
  private static <T> List<T> every(List<ImportRow> rows, Function<ImportRow, @Nullable T> part) {
    return rows.stream().flatMap(row -> Stream.ofNullable(part.apply(row))).toList();
  }
}
