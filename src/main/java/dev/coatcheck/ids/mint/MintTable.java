package dev.coatcheck.ids.mint;

import dev.coatcheck.core.id.Token;
import dev.coatcheck.core.key.KeyKind;
import dev.coatcheck.core.seal.SealKeyMissing;
import dev.coatcheck.core.seal.Sealing;
import dev.coatcheck.ids.alias.Alias;
import dev.coatcheck.ids.alias.AliasTable;
import dev.coatcheck.ids.alias.AliasTarget;
import dev.coatcheck.ids.mapping.MappingTable;
import dev.coatcheck.ids.mapping.PinnedKeyTable;
import dev.coatcheck.ids.mapping.PublicIdTable;
import dev.coatcheck.ids.mapping.StoredMapping;
import dev.coatcheck.ids.mapping.TypedKey;
import dev.coatcheck.ids.registry.Type;
import dev.coatcheck.postgres.connection.ConnectionDesync;
import dev.coatcheck.postgres.connection.Shards;
import dev.coatcheck.postgres.group.LostRace;
import dev.coatcheck.postgres.sql.PlainSql;
import dev.coatcheck.postgres.sql.ShardedSql;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jooq.DSLContext;

/** Reads the rows that requests name, and writes new ones, for use inside transactions. */
public final class MintTable {
  private static final String INSERT =
      """
      insert into {table} (key, token, type_id, bucket)
      {rows} {conflict}
      returning token, created_at
      """;

  private static final String ROWS = "select * from unnest(?, ?, ?, ?)";

  private static final String UNLESS_TAKEN = INSERT.replace("{conflict}", "on conflict do nothing");
  private static final String ALL_OR_NONE = INSERT.replace("{conflict}", "");

  private MintTable() {}

  /**
   * The rows that have one of the requests' aliases, keys or tokens, ended ones included.
   *
   * @throws LostRace if another transaction is becoming visible, which takes milliseconds
   */
  public static KnownRows known(DSLContext sql, List<MintRequest> requests) {
    KnownRows known = new KnownRows();
    requests.stream()
        .collect(Collectors.groupingBy(request -> request.type().keyKind()))
        .forEach((kind, some) -> addKnown(sql, kind, some, known));
    return known;
  }

  private static void addKnown(
      DSLContext sql, KeyKind kind, List<MintRequest> requests, KnownRows into) {
    List<Alias> names =
        requests.stream().flatMap(request -> request.aliases().stream()).distinct().toList();
    List<TypedKey> keys = requests.stream().flatMap(request -> request.subject().stream()).toList();
    Map<Alias, Token> targets = new HashMap<>();
    if (!names.isEmpty()) {
      AliasTable.targets(sql, names)
          .forEach(
              (alias, target) -> {
                switch (target) {
                  case AliasTarget.Issued(Token token) -> targets.put(alias, token);
                  case AliasTarget.Erased _ -> into.addErased(alias);
                }
              });
    }
    if (!keys.isEmpty()) {
      PublicIdTable.byKey(sql, keys).values().forEach(row -> into.add(kind, row));
    }
    List<TypedKey> pinnable =
        requests.stream()
            .filter(MintRequest::bringsClosedKey)
            .flatMap(request -> request.subject().stream())
            .distinct()
            .toList();
    if (!pinnable.isEmpty()) {
      PinnedKeyTable.mappings(sql, pinnable).forEach(into::addPinned);
    }
    List<Token> tokens =
        Stream.concat(
                targets.values().stream(),
                requests.stream().flatMap(request -> request.token().stream()))
            .distinct()
            .filter(token -> !into.holds(new KnownRows.TableToken(kind, token)))
            .toList();
    if (!tokens.isEmpty()) {
      PublicIdTable.byTokens(sql, MappingTable.of(kind), tokens)
          .forEach(row -> into.add(kind, row));
    }
    targets.forEach(
        (alias, token) -> {
          if (!into.holds(new KnownRows.TableToken(kind, token))) {
            sealed(requests, alias, token)
                .ifPresentOrElse(row -> into.add(kind, row), () -> requireOneTable(sql));
          }
          if (into.holds(new KnownRows.TableToken(kind, token))
              || !mayBeUnpinned(requests, alias)) {
            into.add(alias, kind, token);
          } else {
            into.addUnpinned(alias);
          }
        });
  }

  /**
   * Where shards are on several machines, a transaction becomes visible on one after the other, so
   * an alias can be seen before its mapping.
   */
  private static void requireOneTable(DSLContext sql) {
    if (!Shards.of(sql).isOneTable()) {
      throw new LostRace("alias before its mapping");
    }
  }

  /**
   * What an alias without a row stands for.
   *
   * @throws SealKeyMissing if that can't be told here
   */
  private static Optional<StoredMapping> sealed(
      List<MintRequest> requests, Alias alias, Token token) {
    Optional<Type> type = type(requests, alias);
    if (type.flatMap(Type::sealing).map(sealing -> sealing.open(token)).orElse(null)
        instanceof Sealing.Opened.KeyMissing(String fingerprint)) {
      throw new SealKeyMissing(fingerprint);
    }
    return type.flatMap(each -> StoredMapping.opened(each, token));
  }

  /** Whether an alias may be that of a sealed public ID which no seal key opens any more. */
  private static boolean mayBeUnpinned(List<MintRequest> requests, Alias alias) {
    return type(requests, alias)
        .flatMap(Type::sealing)
        .filter(sealing -> sealing.eras().stream().anyMatch(Sealing.Era::isClosed))
        .isPresent();
  }

  private static Optional<Type> type(List<MintRequest> requests, Alias alias) {
    return requests.stream()
        .map(MintRequest::type)
        .filter(type -> type.number() == alias.typeNumber())
        .findFirst();
  }

  /**
   * Writes the rows of one transaction, each unless its key or its token is taken.
   *
   * @return those that were not written
   */
  static List<MintTarget> insert(DSLContext sql, List<MintTarget> targets) {
    List<MintTarget> missing = new ArrayList<>();
    List<MintTarget> inLockOrder =
        targets.stream()
            .sorted(Comparator.comparing(MintTarget::subject, TypedKey.LOCK_ORDER))
            .toList();
    for (MappingTable<?> table : MappingTable.all()) {
      List<MintTarget> some =
          inLockOrder.stream().filter(target -> table.holds(target.subject().key())).toList();
      if (!some.isEmpty()) {
        missing.addAll(insert(sql, table, UNLESS_TAKEN, some));
      }
    }
    return missing;
  }

  /**
   * Writes rows of which none is expected to be there, in a statement that takes Postgres two
   * thirds of the time.
   *
   * @param targets at least one, all with keys of one kind
   * @throws org.jooq.exception.DataAccessException a unique violation if a key or a token is taken;
   *     nothing was written then
   */
  static void insertAllOrNone(DSLContext sql, List<MintTarget> targets) {
    MappingTable<?> table = MappingTable.of(targets.getFirst().subject().key());
    List<MintTarget> missing = insert(sql, table, ALL_OR_NONE, targets);
    ConnectionDesync.unless(missing.isEmpty(), "rows not inserted: " + missing.size());
  }

  private record Inserted(UUID token, Instant createdAt) {}

  private static Inserted inserted(ResultSet row) throws SQLException {
    return new Inserted(row.getObject(1, UUID.class), PlainSql.instant(row, 2));
  }

  private static List<Inserted> insertOverShards(
      DSLContext sql, MappingTable<?> table, String statement, List<MintTarget> targets) {
    return PlainSql.rows(
        sql,
        table.statement(
            statement.replace("{rows}", ShardedSql.valuesOf("(?, ?, ?, ?)", targets.size()))),
        MintTable::inserted,
        targets.stream()
            .sorted(Comparator.comparingInt(target -> target.subject().bucket()))
            .flatMap(
                target ->
                    Stream.<Object>of(
                        table.value(target.subject().key()),
                        target.token().toUuid(),
                        target.type().number(),
                        (short) target.subject().bucket()))
            .toArray());
  }

  private static List<MintTarget> insert(
      DSLContext sql, MappingTable<?> table, String statement, List<MintTarget> targets) {
    Set<MintTarget> missing = new LinkedHashSet<>(targets);
    // A token has one row in a table.
    Map<UUID, MintTarget> wanted = HashMap.newHashMap(targets.size());
    targets.forEach(target -> wanted.putIfAbsent(target.token().toUuid(), target));
    List<Inserted> all =
        Shards.of(sql).isOneTable()
            ? PlainSql.rows(
                sql,
                table.statement(statement.replace("{rows}", ROWS)),
                MintTable::inserted,
                table.keys(targets, target -> target.subject().key()),
                targets.stream().map(target -> target.token().toUuid()).toArray(UUID[]::new),
                targets.stream().map(target -> target.type().number()).toArray(Integer[]::new),
                targets.stream()
                    .map(target -> (short) target.subject().bucket())
                    .toArray(Short[]::new))
            : insertOverShards(sql, table, statement, targets);
    for (Inserted one : all) {
      MintTarget target =
          ConnectionDesync.required(wanted.get(one.token()), "another's row was inserted");
      target.inserted(one.createdAt());
      missing.remove(target);
    }
    return List.copyOf(missing);
  }
}
