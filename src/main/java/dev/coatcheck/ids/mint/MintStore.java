package dev.coatcheck.ids.mint;

import dev.coatcheck.core.id.Token;
import dev.coatcheck.ids.idempotency.IdempotencyTable;
import dev.coatcheck.ids.mapping.Alias;
import dev.coatcheck.ids.mapping.AliasTable;
import dev.coatcheck.ids.mapping.PublicIdTable;
import dev.coatcheck.ids.mapping.StoredMapping;
import dev.coatcheck.ids.mapping.TypedKey;
import dev.coatcheck.postgres.sql.Database;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.stream.Collectors;
import org.jooq.DSLContext;

/**
 * The transaction of a mint: locks, answers given before, names, rows, answers to keep. Everything
 * of a call is in it, so that a call whose outcome is unknown can be sent again.
 */
final class MintStore {
  /** Of a round without Idempotency-Keys, which looks for no answers. */
  private static final long NO_PART = 0;

  private final Database database;
  private final IntFunction<Token> drawToken;
  private final KeyDraws keys;

  /** Draws tokens from {@code drawToken}, which takes a bucket. */
  MintStore(Database database, IntFunction<Token> drawToken, KeyDraws keys) {
    this.database = database;
    this.drawToken = drawToken;
    this.keys = keys;
  }

  /** What a transaction did about one call. */
  sealed interface Attempt {
    /**
     * It is settled.
     *
     * @param answer for the caller
     * @param work what was done, where anything was
     */
    record Done(MintOutcome answer, MintOutcome work) implements Attempt {
      static Done of(MintOutcome answer) {
        return new Done(answer, answer);
      }
    }

    /**
     * Another transaction works on one of its names, or its new key was taken; nothing was done
     * about this call.
     */
    record Locked() implements Attempt {}
  }

  /**
   * Another transaction wrote a name between our look and our write; everything was rolled back,
   * and a second look will find it.
   */
  static final class LostRace extends RuntimeException {
    private static final long serialVersionUID = 1L;

    LostRace(String what) {
      super(what, null, false, false);
    }
  }

  /**
   * Works on all calls in one transaction.
   *
   * @param lockMillisMax how long to wait for a row that another transaction is about to write
   * @throws LostRace to be tried again
   * @throws dev.coatcheck.postgres.sql.LockTimeout if a row was not to be had; nothing was done
   */
  List<Attempt> run(List<MintCall> calls, int lockMillisMax) {
    return isSingleInsert(calls)
        ? database.writeAlone("mint", sql -> runSingle(sql, calls))
        : database.write("mint", sql -> run(sql, calls, lockMillisMax));
  }

  /** Whether one statement does it all: each call is for one new key of the same table. */
  private static boolean isSingleInsert(List<MintCall> calls) {
    return calls.stream().noneMatch(call -> call.isBatch() || call.bringsNames() || call.atomic())
        && calls.stream()
                .flatMap(call -> call.requests().stream())
                .map(request -> request.type().keyScheme())
                .distinct()
                .limit(2)
                .count()
            == 1;
  }

  /**
   * What is written is committed already; only the calls whose key was taken are to be tried again.
   */
  private List<Attempt> runSingle(DSLContext sql, List<MintCall> calls) {
    MintTransaction round = new MintTransaction(calls);
    MintPlan plan = drawn(round, _ -> MintPlan.Known.NOTHING);
    plan.newThings().forEach(thing -> thing.willBe(drawToken.apply(thing.bucket())));
    for (MintPlan.MintTarget missing : insert(sql, plan.newThings())) {
      keys.wasTaken(missing.type, missing.subject().key());
    }
    return round.attempts(plan);
  }

  private List<Attempt> run(DSLContext sql, List<MintCall> calls, int lockMillisMax) {
    MintTransaction round = new MintTransaction(calls);
    long part = NO_PART;
    if (round.bringsNames()) {
      IdempotencyTable.Locks locks = IdempotencyTable.lock(sql, round.locks(), lockMillisMax);
      round.leave(locks.refused());
      part = locks.part();
    }
    round.replay(IdempotencyTable.find(sql, part, round.idempotencyKeys()));
    MintPlan plan = drawn(round, requests -> look(sql, requests));
    if (!(round.isAtomic() && plan.refusesAny())) {
      plan.newThings().forEach(thing -> thing.willBe(drawToken.apply(thing.bucket())));
      insertAliases(sql, plan.newNames());
      insertMappings(sql, plan.newThings(), round.isAtomic());
    }
    List<Attempt> attempts = round.attempts(plan);
    if (!IdempotencyTable.keep(sql, part, round.entries())) {
      throw new LostRace("idempotency key");
    }
    return attempts;
  }

  /** The plan of a round in which every call that stays open has its keys. */
  private MintPlan drawn(MintTransaction round, Function<List<MintRequest>, MintPlan.Known> look) {
    MintPlan plan;
    do {
      plan = round.plan(look);
    } while (!round.draw(plan, keys));
    return plan;
  }

  private static MintPlan.Known look(DSLContext sql, List<MintRequest> requests) {
    List<Alias> names =
        requests.stream().flatMap(request -> request.aliases().stream()).distinct().toList();
    List<TypedKey> subjects =
        requests.stream().flatMap(request -> request.subject().stream()).distinct().toList();
    return new MintPlan.Known(
        names.isEmpty() ? Map.of() : AliasTable.mappings(sql, names),
        subjects.isEmpty() ? Map.of() : PublicIdTable.byKey(sql, subjects));
  }

  /** Aliases come before rows in every transaction: half of the order that avoids deadlocks. */
  private static void insertAliases(DSLContext sql, List<MintPlan.NewName> names) {
    if (names.isEmpty()) {
      return;
    }
    Map<Alias, Token> targets =
        names.stream()
            .collect(Collectors.toMap(MintPlan.NewName::alias, name -> name.thing().token()));
    List<Alias> sorted = targets.keySet().stream().sorted(Alias.LOCK_ORDER).toList();
    if (AliasTable.insert(sql, sorted, targets::get) != sorted.size()) {
      throw new LostRace("alias");
    }
  }

  private void insertMappings(DSLContext sql, List<MintPlan.MintTarget> things, boolean looked) {
    List<MintPlan.MintTarget> missing = insert(sql, things);
    if (!missing.isEmpty()) {
      readBack(sql, missing, looked);
    }
  }

  /** Returns those whose key or token is taken. */
  private static List<MintPlan.MintTarget> insert(
      DSLContext sql, List<MintPlan.MintTarget> things) {
    Map<Token, Instant> inserted =
        PublicIdTable.insert(sql, things.stream().map(MintPlan.MintTarget::mapping).toList());
    List<MintPlan.MintTarget> missing = new ArrayList<>();
    for (MintPlan.MintTarget thing : things) {
      Instant createdAt = inserted.get(thing.token());
      if (createdAt == null) {
        missing.add(thing);
      } else {
        thing.inserted(thing.mapping().insertedAt(createdAt));
      }
    }
    return missing;
  }

  private void readBack(DSLContext sql, List<MintPlan.MintTarget> missing, boolean looked) {
    Map<TypedKey, StoredMapping> present =
        PublicIdTable.byKey(sql, missing.stream().map(MintPlan.MintTarget::subject).toList());
    for (MintPlan.MintTarget thing : missing) {
      StoredMapping row = present.get(thing.subject());
      if (row == null) {
        throw new LostRace("token"); // another key has it already: 2^-118 a try
      }
      if (thing.generated) {
        keys.wasTaken(thing.type, row.key());
      }
      if (looked || thing.generated || thing.isLookedUp()) {
        throw new LostRace("key");
      }
      thing.wasThere(row);
    }
  }
}
