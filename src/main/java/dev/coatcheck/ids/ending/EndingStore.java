package dev.coatcheck.ids.ending;

import static java.util.Objects.requireNonNull;

import dev.coatcheck.cluster.audit.Actor;
import dev.coatcheck.cluster.audit.AuditEntry;
import dev.coatcheck.cluster.audit.AuditTable;
import dev.coatcheck.cluster.change.ChangeKind;
import dev.coatcheck.cluster.change.ChangeTable;
import dev.coatcheck.core.id.Token;
import dev.coatcheck.ids.ending.EndingPlan.Call;
import dev.coatcheck.ids.ending.Endings.Result;
import dev.coatcheck.ids.idempotency.IdempotencyKey;
import dev.coatcheck.ids.idempotency.IdempotencyTable;
import dev.coatcheck.ids.mapping.EndingTable;
import dev.coatcheck.ids.mapping.IdText.OfToken;
import dev.coatcheck.ids.mapping.MappingTable;
import dev.coatcheck.ids.mapping.NewEnding;
import dev.coatcheck.ids.mapping.PublicIdTable;
import dev.coatcheck.ids.mapping.StoredEnding;
import dev.coatcheck.ids.mapping.StoredMapping;
import dev.coatcheck.ids.mapping.TypedToken;
import dev.coatcheck.postgres.group.GroupCommit.Attempt;
import dev.coatcheck.postgres.group.LostRace;
import dev.coatcheck.postgres.sql.Database;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jooq.DSLContext;

/** The transactions of endings. */
final class EndingStore {
  /** How long to wait for the head of the change feed. Other rows are locked without waiting. */
  private static final int LOCK_MILLIS = 800;

  /** For a transaction without Idempotency-Keys, which stores no responses. */
  private static final long NO_PART = 0;

  private final Database database;

  EndingStore(Database database) {
    this.database = database;
  }

  /**
   * Ends the public IDs of all calls in one transaction, which takes the head of the change feed
   * once. Every ending waits for that head.
   *
   * @throws LostRace if the caller should try again
   * @throws dev.coatcheck.postgres.sql.LockTimeout if the change feed was not available in time;
   *     nothing was done
   */
  List<Attempt<Result>> end(List<Call> calls) {
    return database.write("end", sql -> end(sql, calls));
  }

  /** Runs the statements of an ending without any row. */
  void warmUp() {
    Set<Token> absent = Set.of(new Token(0, 0));
    AuditEntry _ =
        AuditEntry.of(Actor.operator(), "id.merge", List.of(), Map.of("items", List.of()));
    boolean _ =
        database.write(
            "warm-up",
            sql -> {
              EndingTable.look(sql, Set.of(), LOCK_MILLIS);
              MappingTable.all().forEach(table -> PublicIdTable.lock(sql, table, absent));
              EndingTable.insert(sql, List.of());
              return true;
            });
  }

  private static List<Attempt<Result>> end(DSLContext sql, List<Call> calls) {
    IdentityHashMap<Call, Attempt<Result>> attempts = new IdentityHashMap<>();
    long part = answeredBefore(sql, calls, attempts);
    List<Call> open = calls.stream().filter(call -> !attempts.containsKey(call)).toList();
    if (!open.isEmpty()) {
      end(sql, part, open, attempts);
    }
    return calls.stream().map(call -> requireNonNull(attempts.get(call))).toList();
  }

  /**
   * Settles the calls that have a stored response, and those whose Idempotency-Key another
   * transaction or call is using.
   *
   * @return the part that stores new responses
   */
  private static long answeredBefore(
      DSLContext sql, List<Call> calls, IdentityHashMap<Call, Attempt<Result>> attempts) {
    Map<IdempotencyKey, Call> keyed = new HashMap<>();
    for (Call call : calls) {
      call.once()
          .filter(once -> keyed.putIfAbsent(once.key(), call) != null)
          .ifPresent(_ -> attempts.put(call, new Attempt.Held<>()));
    }
    if (keyed.isEmpty()) {
      return NO_PART;
    }
    IdempotencyTable.Locks locks =
        IdempotencyTable.lock(
            sql, keyed.keySet().stream().map(IdempotencyKey::lock).toList(), LOCK_MILLIS);
    keyed.forEach(
        (key, call) -> {
          if (locks.refused().contains(key.lock())) {
            attempts.put(call, new Attempt.Held<>());
          }
        });
    keyed.values().removeIf(attempts::containsKey);
    IdempotencyTable.find(sql, locks.part(), keyed.keySet())
        .forEach(
            (key, past) -> {
              Call call = requireNonNull(keyed.get(key));
              attempts.put(
                  call,
                  new Attempt.Done<>(
                      past.of(
                          call.once().orElseThrow(),
                          answer -> new Result.Answered(answer, true),
                          Result.KeyReused::new)));
            });
    return locks.part();
  }

  /**
   * Doesn't wait for a row that another transaction holds. So no transaction waits while it holds
   * rows, opposite merges can't deadlock, and a locked row delays only its own callers.
   */
  private static void end(
      DSLContext sql,
      long part,
      List<Call> calls,
      IdentityHashMap<Call, Attempt<Result>> attempts) {
    Map<TypedToken, MappingTable<?>> wanted = new HashMap<>();
    calls.stream()
        .flatMap(Call::ids)
        .forEach(id -> wanted.put(id.id(), MappingTable.of(id.type().keyKind())));
    EndingTable.look(sql, wanted.keySet(), LOCK_MILLIS).endings().stream()
        .filter(ending -> ending.survivor().isPresent())
        .forEach(
            ending -> wanted.put(ending.survivor().get(), requireNonNull(wanted.get(ending.id()))));
    List<StoredMapping> rows = new ArrayList<>();
    Set<TypedToken> free = new HashSet<>(wanted.keySet());
    for (MappingTable<?> table : MappingTable.all()) {
      Set<TypedToken> some = new HashSet<>(wanted.keySet());
      some.removeIf(id -> !table.equals(wanted.get(id)));
      Set<Token> tokens = some.stream().map(TypedToken::token).collect(Collectors.toSet());
      List<StoredMapping> locked = PublicIdTable.lock(sql, table, tokens);
      rows.addAll(locked);
      Set<Token> held = held(sql, table, tokens, locked);
      some.removeIf(id -> !held.contains(id.token()));
      free.removeAll(some);
    }
    Map<TypedToken, StoredMapping> sealed = sealed(calls, rows);
    rows.addAll(sealed.values());
    EndingTable.Known known = EndingTable.look(sql, wanted.keySet(), LOCK_MILLIS);
    EndingPlan plan = new EndingPlan(rows, known.endings(), known.now());
    List<IdempotencyTable.Entry> answers = new ArrayList<>();
    for (Call call : calls) {
      attempts.put(
          call,
          free.containsAll(touched(call, known.endings()))
              ? new Attempt.Done<>(result(call, plan.decide(call), answers))
              : new Attempt.Held<>());
    }
    IdempotencyTable.keep(sql, part, answers);
    write(sql, plan, sealed); // last: the head of the change feed stays locked until the commit
  }

  /** The mappings of sealed public IDs that have no row yet. */
  private static Map<TypedToken, StoredMapping> sealed(List<Call> calls, List<StoredMapping> rows) {
    Set<TypedToken> stored = rows.stream().map(StoredMapping::id).collect(Collectors.toSet());
    Map<TypedToken, StoredMapping> sealed = new HashMap<>();
    calls.stream()
        .flatMap(Call::ids)
        .filter(id -> !stored.contains(id.id()))
        .forEach(
            id ->
                StoredMapping.opened(id.type(), id.token())
                    .ifPresent(row -> sealed.put(id.id(), row)));
    return sealed;
  }

  private static Result result(
      Call call, List<EndOutcome> outcomes, List<IdempotencyTable.Entry> answers) {
    if (call.once().isEmpty()) {
      return new Result.Settled(outcomes);
    }
    IdempotencyTable.Entry entry = IdempotencyTable.Entry.of(call.once().get(), outcomes);
    answers.add(entry);
    return new Result.Answered(entry.answer(), false);
  }

  /** The public IDs that a call names, and the survivors of the merged ones. */
  private static Set<TypedToken> touched(Call call, List<StoredEnding> endings) {
    Set<TypedToken> named = call.ids().map(OfToken::id).collect(Collectors.toSet());
    return Stream.concat(
            named.stream(),
            endings.stream()
                .filter(ending -> named.contains(ending.id()))
                .flatMap(ending -> ending.survivor().stream()))
        .collect(Collectors.toSet());
  }

  /** The wanted tokens that have a row which could not be locked. */
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

  /** A sealed public ID gets a row when it ends, or when another one is merged into it. */
  private static void write(
      DSLContext sql, EndingPlan plan, Map<TypedToken, StoredMapping> sealed) {
    List<NewEnding> endings = plan.planned();
    if (!endings.isEmpty()) {
      Set<TypedToken> touched =
          endings.stream()
              .flatMap(
                  ended ->
                      Stream.concat(
                          Stream.of(ended.row().id()), ended.ending().survivor().stream()))
              .collect(Collectors.toSet());
      if (!PublicIdTable.insertSealed(
          sql, touched.stream().filter(sealed::containsKey).map(sealed::get).toList())) {
        throw new LostRace("row");
      }
      EndingTable.insert(sql, endings);
      AuditTable.append(sql, plan.audited());
      ChangeTable.append(
          sql,
          ChangeKind.ENDING,
          endings.stream().map(ended -> ended.row().id().subjectOfChange()).toList());
    }
  }
}
