package dev.coatcheck.ids.mapping;

import static dev.coatcheck.postgres.sql.schema.Tables.ENDING;
import static java.util.Objects.requireNonNull;
import static org.jooq.impl.DSL.field;
import static org.jooq.impl.DSL.table;
import static org.jooq.impl.DSL.val;

import dev.coatcheck.cluster.change.ChangeKind;
import dev.coatcheck.cluster.change.ChangeTable;
import dev.coatcheck.core.id.Token;
import dev.coatcheck.ids.idempotency.IdempotencyKey;
import dev.coatcheck.ids.idempotency.IdempotencyTable;
import dev.coatcheck.ids.idempotency.IdempotentCall;
import dev.coatcheck.ids.idempotency.StoredResponse;
import dev.coatcheck.ids.mapping.EndingPlan.Call;
import dev.coatcheck.ids.mapping.EndingPlan.Planned;
import dev.coatcheck.ids.mapping.EndingPlan.Ref;
import dev.coatcheck.postgres.sql.Database;
import dev.coatcheck.postgres.sql.UnaskedRow;
import dev.coatcheck.postgres.sql.Unnest;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jooq.DSLContext;
import org.jooq.Field;
import org.jooq.Record4;
import org.jspecify.annotations.Nullable;

/** All SQL about endings. */
final class EndingStore {
  /** For the head of the change feed: all other rows are locked without waiting. */
  private static final int LOCK_MILLIS = 800;

  /** Of a round without Idempotency-Keys, which keeps no answers. */
  private static final long NO_PART = 0;

  private final Database database;

  EndingStore(Database database) {
    this.database = database;
  }

  /** What a transaction did about one call. */
  sealed interface Attempt {
    /** It is settled; what was to be written is committed. */
    record Done(List<EndOutcome> outcomes) implements Attempt {}

    /**
     * It came with an Idempotency-Key, and this is its answer.
     *
     * @param replayed whether it was worked out for an earlier request
     */
    record Answered(StoredResponse answer, boolean replayed) implements Attempt {}

    /** The Idempotency-Key belongs to another request; nothing was done about this call. */
    record KeyReused() implements Attempt {}

    /**
     * Another transaction works on one of its public IDs, or on its key; nothing was done about
     * this call.
     */
    record Locked() implements Attempt {}
  }

  /**
   * Ends for all calls in one transaction, so that the head of the change feed, which every ending
   * waits for, is taken once.
   *
   * @throws dev.coatcheck.postgres.sql.LockTimeout if the change feed was not to be had in time;
   *     nothing was done
   */
  List<Attempt> end(List<Call> calls) {
    return database.write("end", sql -> end(sql, calls));
  }

  /**
   * A row that another transaction holds is not waited for, so no transaction waits while it holds
   * rows, opposite merges can't deadlock, and one held row delays none but its own callers.
   */
  private static List<Attempt> end(DSLContext sql, List<Call> calls) {
    IdentityHashMap<Call, Attempt> before = new IdentityHashMap<>();
    long part = answeredBefore(sql, calls, before);
    List<Call> open = calls.stream().filter(call -> !before.containsKey(call)).toList();
    Iterator<Attempt> attempts =
        (open.isEmpty() ? List.<Attempt>of() : endOpen(sql, part, open)).iterator();
    return calls.stream()
        .map(call -> Optional.ofNullable(before.get(call)).orElseGet(attempts::next))
        .toList();
  }

  /**
   * Settles those calls that came before, or whose key another transaction or call works on.
   *
   * @return the part of the answers to keep new ones in
   */
  private static long answeredBefore(
      DSLContext sql, List<Call> calls, IdentityHashMap<Call, Attempt> before) {
    Map<IdempotencyKey, Call> keyed = new HashMap<>();
    for (Call call : calls) {
      call.once()
          .filter(once -> keyed.putIfAbsent(once.key(), call) != null)
          .ifPresent(_ -> before.put(call, new Attempt.Locked()));
    }
    if (keyed.isEmpty()) {
      return NO_PART;
    }
    IdempotencyTable.Locks locks =
        IdempotencyTable.lock(
            sql, keyed.keySet().stream().map(IdempotencyKey::lock).toList(), LOCK_MILLIS);
    keyed
        .entrySet()
        .removeIf(
            entry -> {
              boolean refused = locks.refused().contains(entry.getKey().lock());
              if (refused) {
                before.put(entry.getValue(), new Attempt.Locked());
              }
              return refused;
            });
    IdempotencyTable.find(sql, locks.part(), keyed.keySet())
        .forEach(
            (key, past) -> {
              Call call = requireNonNull(keyed.get(key));
              before.put(
                  call,
                  past.requestHash().equals(call.once().orElseThrow().requestHash())
                      ? new Attempt.Answered(past.answer(), true)
                      : new Attempt.KeyReused());
            });
    return locks.part();
  }

  /** Another transaction kept an answer for the same key; everything was rolled back. */
  static final class Overtaken extends RuntimeException {
    private static final long serialVersionUID = 1L;

    Overtaken() {
      super("idempotency key", null, false, false);
    }
  }

  private static List<Attempt> endOpen(DSLContext sql, long part, List<Call> calls) {
    List<IdempotencyTable.Entry> entries = new ArrayList<>();
    Map<MappingTable<?>, Set<Token>> wanted =
        calls.stream()
            .flatMap(Call::refs)
            .collect(
                Collectors.groupingBy(
                    ref -> MappingTable.of(ref.type().keyScheme()),
                    Collectors.mapping(Ref::token, Collectors.toCollection(HashSet::new))));
    Set<Token> survivors = survivors(look(sql, union(wanted)).endings());
    wanted.values().forEach(tokens -> tokens.addAll(survivors));
    List<StoredMapping> rows = new ArrayList<>();
    Set<Token> free = union(wanted);
    for (MappingTable<?> table : MappingTable.all()) {
      Set<Token> tokens = wanted.getOrDefault(table, Set.of());
      List<StoredMapping> locked = lock(sql, table, tokens);
      rows.addAll(locked);
      free.removeAll(held(sql, table, tokens, locked));
    }
    Known known = look(sql, union(wanted));
    EndingPlan plan = new EndingPlan(rows, known.endings(), known.now());
    List<Attempt> attempts =
        calls.stream()
            .<Attempt>map(
                call ->
                    free.containsAll(touched(call, known.endings()))
                        ? done(call, plan.decide(call), entries)
                        : new Attempt.Locked())
            .toList();
    if (!IdempotencyTable.keep(sql, part, entries)) {
      throw new Overtaken();
    }
    write(sql, plan.planned()); // last: the head of the change feed is held until the commit
    return attempts;
  }

  private static Attempt done(
      Call call, List<EndOutcome> outcomes, List<IdempotencyTable.Entry> entries) {
    if (call.once().isEmpty()) {
      return new Attempt.Done(outcomes);
    }
    IdempotentCall<List<EndOutcome>> once = call.once().get();
    StoredResponse answer = once.answer().apply(outcomes);
    if (answer.isKept()) {
      entries.add(new IdempotencyTable.Entry(once.key(), once.requestHash(), answer));
    }
    return new Attempt.Answered(answer, false);
  }

  private static Set<Token> union(Map<MappingTable<?>, Set<Token>> tokens) {
    return tokens.values().stream()
        .flatMap(Set::stream)
        .collect(Collectors.toCollection(HashSet::new));
  }

  /** The tokens that a call names, and the survivors of those that were merged. */
  private static Set<Token> touched(Call call, List<StoredEnding> endings) {
    Set<Token> touched = call.refs().map(Ref::token).collect(Collectors.toSet());
    touched.addAll(
        survivors(endings.stream().filter(each -> touched.contains(each.token())).toList()));
    return touched;
  }

  private static Set<Token> survivors(List<StoredEnding> endings) {
    return endings.stream()
        .flatMap(ending -> ending.survivor().stream())
        .collect(Collectors.toSet());
  }

  private static <K> List<StoredMapping> lock(
      DSLContext sql, MappingTable<K> table, Set<Token> wanted) {
    if (wanted.isEmpty()) {
      return List.of();
    }
    List<Token> tokens = List.copyOf(wanted);
    return sql.select(table.columns())
        .from(table.table())
        .join(
            table(
                "unnest({0}, {1}) as wanted (bucket, token)",
                Unnest.shorts(tokens, Token::bucket), Unnest.uuids(tokens, Token::toUuid)))
        .using(table.bucket(), table.token())
        .forUpdate()
        .of(table.table())
        .skipLocked()
        .fetch(table.mapper());
  }

  /** Those of the wanted tokens that have a row, but not one that could be locked. */
  private static Set<Token> held(
      DSLContext sql, MappingTable<?> table, Set<Token> wanted, List<StoredMapping> locked) {
    Set<Token> missing = new HashSet<>(wanted);
    locked.forEach(row -> missing.remove(row.token()));
    return missing.isEmpty()
        ? missing
        : PublicIdTable.byTokens(sql, table, List.copyOf(missing)).stream()
            .map(StoredMapping::token)
            .collect(Collectors.toSet());
  }

  /** The endings that there are, and the time of this transaction. */
  private record Known(Instant now, List<StoredEnding> endings) {}

  /** Reads the endings of the tokens, and bounds the wait for the change feed. */
  private static Known look(DSLContext sql, Set<Token> tokens) {
    Field<Instant> now = field("now", ENDING.ENDED_AT.getDataType());
    var rows =
        sql.resultQuery(
                """
                select ending.token, ending.ended_at, ending.reason, ending.survivor,
                       this.now, this.lock_timeout
                  from (select now(), set_config('lock_timeout', {1}, true))
                         as this (now, lock_timeout)
                  left join {0} as ending on ending.token = any({2})
                """,
                ENDING, val(LOCK_MILLIS + "ms"), Unnest.uuids(List.copyOf(tokens), Token::toUuid))
            .coerce(ENDING.TOKEN, ENDING.ENDED_AT, ENDING.REASON, ENDING.SURVIVOR, now)
            .fetch();
    return new Known(
        rows.getFirst().value5(),
        rows.stream()
            .filter(row -> row.value1() != null)
            .map(
                row ->
                    ending(row.into(ENDING.TOKEN, ENDING.ENDED_AT, ENDING.REASON, ENDING.SURVIVOR)))
            .toList());
  }

  private static void write(DSLContext sql, List<Planned> all) {
    if (all.isEmpty()) {
      return;
    }
    sql.query(
            """
            insert into {0} (token, survivor, ended_at, type_id, status, reason, ended_by)
            select * from unnest({1}, {2}, {3}, {4}, {5}, {6}, {7})
            """,
            ENDING,
            Unnest.uuids(all, e -> e.row().token().toUuid()),
            Unnest.uuids(all, e -> uuid(e.ending().survivor())),
            Unnest.column(all, e -> e.ending().endedAt(), Instant[]::new),
            Unnest.integers(all, e -> e.row().typeNumber()),
            Unnest.shorts(all, e -> e.ending().status().number()),
            Unnest.texts(all, e -> e.ending().reason().orElse(null)),
            Unnest.texts(all, Planned::by))
        .execute();
    all.stream()
        .collect(Collectors.groupingBy(planned -> MappingTable.of(planned.row().key())))
        .forEach((table, some) -> setStatus(sql, table, some));
    flatten(sql, all.stream().filter(e -> e.ending().survivor().isPresent()).toList());
    ChangeTable.append(
        sql,
        ChangeKind.ENDING,
        all.stream().map(e -> StoredMapping.subjectOfChange(e.row().token())).toList());
  }

  private static void setStatus(DSLContext sql, MappingTable<?> table, List<Planned> planned) {
    sql.query(
            """
            update {0} as row set status = ended.status
            from unnest({1}, {2}, {3}) as ended (bucket, token, status)
            where row.bucket = ended.bucket and row.token = ended.token
            """,
            table.table(),
            Unnest.shorts(planned, e -> e.row().token().bucket()),
            Unnest.uuids(planned, e -> e.row().token().toUuid()),
            Unnest.shorts(planned, e -> e.ending().status().number()))
        .execute();
  }

  /** What was merged into one that is merged now goes to the survivor of both. */
  private static void flatten(DSLContext sql, List<Planned> merged) {
    if (!merged.isEmpty()) {
      sql.query(
              """
              update {0} as earlier set survivor = moved.into_token
              from unnest({1}, {2}) as moved (token, into_token)
              where earlier.survivor = moved.token
              """,
              ENDING,
              Unnest.uuids(merged, e -> e.row().token().toUuid()),
              Unnest.uuids(merged, e -> uuid(e.ending().survivor())))
          .execute();
    }
  }

  /** What became of rows of one table that say that they have ended. */
  <K> List<MappingState.Known> findings(MappingTable<K> table, List<StoredMapping> ended) {
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

  private static MappingState.Known finding(
      StoredMapping row, Map<Token, StoredEnding> endings, Map<Token, StoredMapping> survivors) {
    StoredEnding ending = UnaskedRow.required(endings.get(row.token()), "ended without an ending");
    if (ending.survivor().isEmpty()) {
      return new MappingState.Revoked(row, ending.reason(), ending.endedAt());
    }
    StoredEnding after = endings.get(ending.survivor().get());
    return after == null
        ? new MappingState.Merged(
            row,
            UnaskedRow.required(survivors.get(ending.survivor().get()), "merged into no row"),
            ending.endedAt())
        : new MappingState.Revoked(row, after.reason(), after.endedAt());
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
