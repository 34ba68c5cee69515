package dev.coatcheck.ids.mapping;

import static dev.coatcheck.postgres.sql.schema.Tables.ENDING;
import static java.util.Objects.requireNonNull;
import static org.jooq.impl.DSL.currentOffsetDateTime;
import static org.jooq.impl.DSL.table;
import static org.jooq.impl.DSL.val;

import dev.coatcheck.cluster.change.ChangeKind;
import dev.coatcheck.cluster.change.ChangeTable;
import dev.coatcheck.core.id.Token;
import dev.coatcheck.ids.mapping.EndingPlan.Ref;
import dev.coatcheck.ids.mapping.EndingPlan.Step;
import dev.coatcheck.postgres.sql.Database;
import dev.coatcheck.postgres.sql.Unnest;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jooq.DSLContext;
import org.jooq.Record4;
import org.jspecify.annotations.Nullable;

/** All SQL about endings. */
final class EndingStore {
  private static final int TRIES_MAX = 8;

  private final Database database;

  EndingStore(Database database) {
    this.database = database;
  }

  /**
   * Decides the steps and writes what was decided, in one transaction.
   *
   * @param write whether to write, once all outcomes are known
   * @param by a principal
   */
  List<EndOutcome> end(List<Step> steps, Predicate<List<EndOutcome>> write, String by) {
    for (int tried = 0; tried < TRIES_MAX; tried++) {
      Optional<List<EndOutcome>> outcomes =
          database.write("end", sql -> endLocked(sql, steps, write, by));
      if (outcomes.isPresent()) {
        return outcomes.get();
      }
    }
    throw new IllegalStateException("survivors changed " + TRIES_MAX + " times under a merge");
  }

  /**
   * All rows are locked in one order, so that opposite merges can't wait for each other. Empty if
   * somebody merged a survivor meanwhile: its own survivor is not among the locked ones.
   */
  private static Optional<List<EndOutcome>> endLocked(
      DSLContext sql, List<Step> steps, Predicate<List<EndOutcome>> write, String by) {
    Map<MappingTable<?>, Set<Token>> wanted =
        steps.stream()
            .flatMap(EndingStore::refs)
            .collect(
                Collectors.groupingBy(
                    ref -> MappingTable.of(ref.type().keyScheme()),
                    Collectors.mapping(Ref::token, Collectors.toCollection(HashSet::new))));
    wanted.values().forEach(tokens -> tokens.addAll(survivors(endings(sql, tokens))));
    List<StoredMapping> rows = new ArrayList<>();
    MappingTable.all().stream()
        .filter(wanted::containsKey)
        .forEach(table -> rows.addAll(lock(sql, table, requireNonNull(wanted.get(table)))));
    Set<Token> locked = wanted.values().stream().flatMap(Set::stream).collect(Collectors.toSet());
    List<StoredEnding> endings = endings(sql, locked);
    if (!locked.containsAll(survivors(endings))) {
      return Optional.empty();
    }
    EndingPlan plan = new EndingPlan(rows, endings, now(sql));
    List<EndOutcome> outcomes = steps.stream().map(plan::decide).toList();
    if (write.test(outcomes)) {
      write(sql, plan.planned(), by);
    }
    return Optional.of(outcomes);
  }

  private static Stream<Ref> refs(Step step) {
    return switch (step) {
      case Step.Revoke(Ref id, _) -> Stream.of(id);
      case Step.Merge(Ref id, Ref into) -> Stream.of(id, into);
    };
  }

  private static Set<Token> survivors(List<StoredEnding> endings) {
    return endings.stream()
        .flatMap(ending -> ending.survivor().stream())
        .collect(Collectors.toSet());
  }

  private static <K> List<StoredMapping> lock(
      DSLContext sql, MappingTable<K> table, Set<Token> wanted) {
    List<Token> tokens = List.copyOf(wanted);
    return sql.select(table.columns())
        .from(table.table())
        .join(
            table(
                "unnest({0}, {1}) as wanted (bucket, token)",
                Unnest.shorts(tokens, Token::bucket), Unnest.uuids(tokens, Token::toUuid)))
        .using(table.bucket(), table.token())
        .orderBy(table.typeNumber(), table.key())
        .forUpdate()
        .of(table.table())
        .fetch(table.mapper());
  }

  private static Instant now(DSLContext sql) {
    return sql.select(currentOffsetDateTime().coerce(ENDING.ENDED_AT)).fetchSingle().value1();
  }

  private static void write(DSLContext sql, Map<StoredMapping, StoredEnding> planned, String by) {
    if (planned.isEmpty()) {
      return;
    }
    List<Map.Entry<StoredMapping, StoredEnding>> all = List.copyOf(planned.entrySet());
    sql.query(
            """
            insert into {0} (token, survivor, ended_at, type_id, status, reason, ended_by)
            select *, {7} from unnest({1}, {2}, {3}, {4}, {5}, {6})
            """,
            ENDING,
            Unnest.uuids(all, e -> e.getKey().token().toUuid()),
            Unnest.uuids(all, e -> uuid(e.getValue().survivor())),
            Unnest.column(all, e -> e.getValue().endedAt(), Instant[]::new),
            Unnest.integers(all, e -> e.getKey().typeNumber()),
            Unnest.shorts(all, e -> e.getValue().status().number()),
            Unnest.texts(all, e -> e.getValue().reason().orElse(null)),
            val(by))
        .execute();
    all.stream()
        .collect(Collectors.groupingBy(entry -> MappingTable.of(entry.getKey().key())))
        .forEach((table, some) -> setStatus(sql, table, some));
    flatten(sql, all.stream().filter(e -> e.getValue().survivor().isPresent()).toList());
    ChangeTable.append(
        sql,
        ChangeKind.ENDING,
        planned.keySet().stream().map(row -> StoredMapping.subjectOfChange(row.token())).toList());
  }

  private static void setStatus(
      DSLContext sql, MappingTable<?> table, List<Map.Entry<StoredMapping, StoredEnding>> planned) {
    sql.query(
            """
            update {0} as row set status = ended.status
            from unnest({1}, {2}, {3}) as ended (bucket, token, status)
            where row.bucket = ended.bucket and row.token = ended.token
            """,
            table.table(),
            Unnest.shorts(planned, e -> e.getKey().token().bucket()),
            Unnest.uuids(planned, e -> e.getKey().token().toUuid()),
            Unnest.shorts(planned, e -> e.getValue().status().number()))
        .execute();
  }

  /** What was merged into one that is merged now goes to the survivor of both. */
  private static void flatten(DSLContext sql, List<Map.Entry<StoredMapping, StoredEnding>> merged) {
    if (!merged.isEmpty()) {
      sql.query(
              """
              update {0} as earlier set survivor = moved.into_token
              from unnest({1}, {2}) as moved (token, into_token)
              where earlier.survivor = moved.token
              """,
              ENDING,
              Unnest.uuids(merged, e -> e.getKey().token().toUuid()),
              Unnest.uuids(merged, e -> uuid(e.getValue().survivor())))
          .execute();
    }
  }

  /** What became of rows of one table that say that they have ended. */
  <K> List<Finding.Known> findings(MappingTable<K> table, List<StoredMapping> ended) {
    return database.read(
        "resolve ended",
        sql -> {
          // Of the ended ones and of their survivors, in one snapshot.
          Map<Token, StoredEnding> endings =
              sql
                  .select(ENDING.TOKEN, ENDING.ENDED_AT, ENDING.REASON, ENDING.SURVIVOR)
                  .from(ENDING)
                  .where(
                      "token = any({0}) or token in (select survivor from coatcheck.ending where"
                          + " token = any({0}))",
                      Unnest.uuids(ended, row -> row.token().toUuid()))
                  .fetch(EndingStore::ending)
                  .stream()
                  .collect(Collectors.toMap(StoredEnding::token, Function.identity()));
          Map<Token, StoredMapping> survivors =
              PublicIdTable.byTokens(
                      sql, table, List.copyOf(survivors(List.copyOf(endings.values()))))
                  .stream()
                  .collect(Collectors.toMap(StoredMapping::token, Function.identity()));
          return ended.stream().map(row -> finding(row, endings, survivors)).toList();
        });
  }

  private static Finding.Known finding(
      StoredMapping row, Map<Token, StoredEnding> endings, Map<Token, StoredMapping> survivors) {
    StoredEnding ending = requireNonNull(endings.get(row.token()));
    if (ending.survivor().isEmpty()) {
      return new Finding.Revoked(row, ending.reason(), ending.endedAt());
    }
    StoredEnding after = endings.get(ending.survivor().get());
    return after == null
        ? new Finding.Merged(
            row, requireNonNull(survivors.get(ending.survivor().get())), ending.endedAt())
        : new Finding.Revoked(row, after.reason(), after.endedAt());
  }

  private static List<StoredEnding> endings(DSLContext sql, Collection<Token> tokens) {
    return sql.select(ENDING.TOKEN, ENDING.ENDED_AT, ENDING.REASON, ENDING.SURVIVOR)
        .from(ENDING)
        .where("token = any({0})", Unnest.uuids(List.copyOf(tokens), Token::toUuid))
        .fetch(EndingStore::ending);
  }

  private static StoredEnding ending(Record4<UUID, Instant, String, UUID> row) {
    return new StoredEnding(
        Token.of(row.value1()),
        row.value2(),
        Optional.ofNullable(row.value3()),
        Optional.ofNullable(row.value4()).map(Token::of));
  }

  private static @Nullable UUID uuid(Optional<Token> token) {
    return token.map(Token::toUuid).orElse(null);
  }
}
