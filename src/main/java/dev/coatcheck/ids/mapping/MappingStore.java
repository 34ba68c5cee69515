package dev.coatcheck.ids.mapping;

import static java.util.Objects.requireNonNull;

import dev.coatcheck.core.id.Token;
import dev.coatcheck.core.key.Key;
import dev.coatcheck.core.key.KeyBounds;
import dev.coatcheck.core.key.KeyScheme;
import dev.coatcheck.ids.registry.Type;
import dev.coatcheck.postgres.connection.ConnectionDesync;
import dev.coatcheck.postgres.group.Coalescer;
import dev.coatcheck.postgres.sql.Database;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jooq.DSLContext;
import org.jooq.impl.DSL;

/** Reads mappings, each time in a statement of its own. */
final class MappingStore {
  private static final int GROUP_TOKENS_MAX = 200;

  private final Database database;
  private final Mappings.KeySource rows;
  private final Map<KeyScheme, Coalescer<Token, Optional<StoredMapping>>> together =
      new EnumMap<>(KeyScheme.class);

  /** Callers of {@link #byToken} share up to {@code groupsMax} statements at a time. */
  MappingStore(Database database, Mappings.KeySource rows, int groupsMax) {
    this.database = database;
    this.rows = rows;
    for (KeyScheme scheme : KeyScheme.values()) {
      MappingTable<?> table = MappingTable.of(scheme);
      together.put(
          scheme,
          new Coalescer<>(
              "resolve", groupsMax, GROUP_TOKENS_MAX, tokens -> byTokensInOrder(table, tokens)));
    }
  }

  /**
   * The mappings of those subjects that have one. A row of a table migration that waits for its
   * public ID gets it now.
   */
  Map<TypedKey, StoredMapping> byKey(List<TypedKey> subjects) {
    Map<TypedKey, StoredMapping> found = readByKey(subjects);
    List<TypedKey> missing =
        subjects.stream()
            .filter(one -> rows.mayHave(one.typeNumber()) && !found.containsKey(one))
            .toList();
    if (missing.isEmpty()) {
      return found;
    }
    missing.stream()
        .collect(
            Collectors.groupingBy(
                TypedKey::typeNumber, Collectors.mapping(TypedKey::key, Collectors.toList())))
        .forEach(rows::publish);
    // Also those that another session has brought meanwhile.
    Map<TypedKey, StoredMapping> all = new HashMap<>(found);
    all.putAll(readByKey(missing));
    return all;
  }

  private Map<TypedKey, StoredMapping> readByKey(List<TypedKey> subjects) {
    return database.read("lookup", sql -> PublicIdTable.byKey(sql, subjects));
  }

  /** The row of one token. Callers that ask at the same time share a statement. */
  private Optional<StoredMapping> byToken(KeyScheme scheme, Token token) {
    return requireNonNull(together.get(scheme)).call(token);
  }

  private List<Optional<StoredMapping>> byTokensInOrder(MappingTable<?> table, List<Token> tokens) {
    if (tokens.size() == 1) {
      Optional<StoredMapping> row =
          database.read("resolve", sql -> PublicIdTable.byToken(sql, table, tokens.getFirst()));
      return List.of(row);
    }
    Map<Token, StoredMapping> found =
        byTokens(table, tokens.stream().distinct().toList()).stream()
            .collect(Collectors.toMap(StoredMapping::token, Function.identity()));
    return tokens.stream().map(token -> Optional.ofNullable(found.get(token))).toList();
  }

  /** The rows of those tokens that have one; all tokens lie in the table of one key scheme. */
  private List<StoredMapping> byTokens(MappingTable<?> table, List<Token> wanted) {
    return database.read("resolve", sql -> PublicIdTable.byTokens(sql, table, wanted));
  }

  /**
   * The states of those tokens that have a row; all lie in the table of the scheme. Endings are
   * read only where a row says that there is one.
   */
  List<MappingState.Known> states(KeyScheme scheme, List<Token> tokens) {
    MappingTable<?> table = MappingTable.of(scheme);
    List<StoredMapping> rows =
        tokens.size() == 1
            ? byToken(scheme, tokens.getFirst()).stream().toList()
            : byTokens(table, tokens);
    List<MappingState.Known> states = new ArrayList<>();
    List<StoredMapping> ended = new ArrayList<>();
    for (StoredMapping row : rows) {
      if (row.isActive()) {
        states.add(new MappingState.Active(row));
      } else {
        ended.add(row);
      }
    }
    if (!ended.isEmpty()) {
      states.addAll(ended(table, ended));
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
    return after == null
        ? new MappingState.Merged(
            row,
            ConnectionDesync.required(survivors.get(ending.survivor().get()), "merged into no row"),
            ending.endedAt())
        : new MappingState.Revoked(row, after.reason(), after.endedAt());
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
    List<StoredMapping> rows =
        sql.select(table.columns())
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
    ConnectionDesync.unless(
        rows.size() <= rowsMax
            && rows.stream().allMatch(row -> row.typeNumber() == type.number())
            && before.stream()
                .flatMap(key -> rows.stream().map(row -> TypedKey.compare(row.key(), key)))
                .allMatch(order -> order < 0),
        "another list");
    return rows;
  }
}
