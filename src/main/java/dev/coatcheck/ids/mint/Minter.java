package dev.coatcheck.ids.mint;

import dev.coatcheck.core.attempt.NonBlockingAttempt;
import dev.coatcheck.core.id.Token;
import dev.coatcheck.core.id.TokenSource;
import dev.coatcheck.core.key.Key;
import dev.coatcheck.core.key.KeyGenerator;
import dev.coatcheck.core.key.KeyOutcome;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.ids.idempotency.IdempotencyKey;
import dev.coatcheck.ids.idempotency.IdempotentCall;
import dev.coatcheck.ids.mapping.SealedRows;
import dev.coatcheck.ids.registry.Registry;
import dev.coatcheck.ids.registry.Type;
import dev.coatcheck.postgres.group.GroupCommit;
import dev.coatcheck.postgres.group.RetryPause;
import dev.coatcheck.postgres.group.SingleFlight;
import dev.coatcheck.postgres.sql.Database;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;

/**
 * Creates public IDs, and answers after the commit. A (type, key) or an alias has one public ID,
 * however often it is minted and by whom: the unique constraints settle every race.
 */
public final class Minter {
  private static final int BATCH_WAIT_MILLIS_MAX = 900;

  private final MintStore store;
  private final UnaryOperator<Type> current;
  private final Function<Type, KeyGenerator> keys;
  private final IntFunction<Token> tokens;
  private final Observer observer;
  private final SealedMints sealedMints;
  private final GroupCommit<MintCall, MintOutcome> commits;
  private final SingleFlight<SameRequest, MintOutcome> sameRequests = new SingleFlight<>();

  private record SameRequest(IdempotencyKey key, String requestHash) {}

  /**
   * Draws tokens from {@code tokens}, which takes a bucket.
   *
   * @param current the type as it is; it may have been retired since the request was read
   * @param groupsMax how many transactions of single mints are under way at a time; batches have
   *     three for every four of these, and single mints whose group was rolled back two
   */
  Minter(
      MintStore store,
      UnaryOperator<Type> current,
      Function<Type, KeyGenerator> keys,
      IntFunction<Token> tokens,
      SealedRows sealedRows,
      Observer observer,
      int groupsMax) {
    this.store = store;
    this.current = current;
    this.sealedMints = new SealedMints(keys, sealedRows, observer, InstantSource.system());
    this.keys = keys;
    this.tokens = tokens;
    this.observer = observer;
    GroupCommit.Limits limits =
        new GroupCommit.Limits(
            groupsMax,
            0,
            new Semaphore(Math.max(1, groupsMax / 2), true),
            new Semaphore(Math.max(1, groupsMax * 3 / 4), true),
            BATCH_WAIT_MILLIS_MAX);
    this.commits =
        new GroupCommit<>(
            "mint", limits, this::commit, new MintOutcome.Busy(), new MintOutcome.Overloaded());
  }

  /**
   * Draws keys of a type from the generator that {@code keys} has for it.
   *
   * @param groupsMax how many transactions of single mints are under way at a time
   */
  public static Minter open(
      Database database,
      Registry registry,
      TokenSource tokens,
      Function<Type, KeyGenerator> keys,
      SealedRows sealedRows,
      Observer observer,
      int groupsMax) {
    return new Minter(
        new MintStore(database, observer),
        registry::current,
        keys,
        tokens::next,
        sealedRows,
        observer,
        groupsMax);
  }

  /**
   * Mints for one caller. Equal requests with an Idempotency-Key that come at the same time are one
   * call.
   *
   * @throws dev.coatcheck.core.seal.SealKeyMissing if this instance lacks a seal key; nothing was
   *     done
   * @throws dev.coatcheck.postgres.sql.DatabaseUnavailable if the outcome is unknown; sending the
   *     same again, with its key, alias or Idempotency-Key, settles it
   */
  public MintOutcome mint(MintCall asked) {
    // Once: a mint that has begun must not be sent away to wait for types.
    MintCall call = NonBlockingAttempt.once(MintCall.class, () -> asked.with(current));
    if (call.once().isEmpty()) {
      // Decided once: the type may begin to be sealed while the mint is committed.
      return NonBlockingAttempt.once(SealedMints.class, () -> sealedMints.mint(call))
          .orElseGet(() -> commits.settle(call));
    }
    IdempotentCall<MintOutcome.Worked> once = call.once().get();
    return sameRequests.call(
        new SameRequest(once.key(), once.requestHash()),
        () -> commits.settle(call),
        Minter::sameAnswer);
  }

  private static MintOutcome sameAnswer(Future<MintOutcome> first) {
    return SingleFlight.await(first, TimeUnit.MILLISECONDS.toNanos(RetryPause.TRIES_MILLIS_MAX))
        .map(
            outcome ->
                outcome instanceof MintOutcome.Answered answered
                    ? new MintOutcome.Answered(answered.answer(), true)
                    : outcome)
        .orElseGet(MintOutcome.Busy::new);
  }

  /** One transaction: look, plan, write, record; or one statement where no names are brought. */
  List<GroupCommit.Attempt<MintOutcome>> commit(List<MintCall> calls, int lockMillisMax) {
    MintTransaction committed =
        MintCall.areOneInsert(calls)
            ? insert(new MintTransaction(calls))
            : store.transaction(sql -> commit(sql, new MintTransaction(calls), lockMillisMax));
    committed.events().forEach(observer::observe);
    return committed.attempts();
  }

  private MintTransaction commit(
      MintStore.Statements sql, MintTransaction transaction, int lockMillisMax) {
    KnownRows known =
        transaction.bringsNames() ? sql.look(transaction, lockMillisMax) : KnownRows.NONE;
    plan(transaction, known);
    return commit(sql, transaction);
  }

  private static MintTransaction commit(MintStore.Statements sql, MintTransaction transaction) {
    sql.write(transaction.plan(), transaction.isAtomic());
    sql.record(transaction.settle());
    return transaction;
  }

  /**
   * If a generated key is taken, something is wrong, and more conflicts will follow. So single
   * calls stay in one group, and only those with a taken key are tried again; a batch is rolled
   * back as a whole, so that none of its rows is written twice.
   */
  private MintTransaction insert(MintTransaction transaction) {
    plan(transaction, KnownRows.NONE);
    List<MintTarget> targets = transaction.plan().newRows();
    if (!store.insertAllOrNone(targets)) {
      if (transaction.isBatch()) {
        return store.transaction(sql -> commit(sql, transaction));
      }
      store.insertUnlessTaken(targets);
    }
    transaction.settle();
    return transaction;
  }

  private void plan(MintTransaction transaction, KnownRows known) {
    transaction.plan(known);
    generateKeys(transaction);
    transaction.plan().newTargets().forEach(target -> target.drawToken(tokens));
  }

  /** Generates the keys that no caller brings, with one draw for each generator. */
  private void generateKeys(MintTransaction transaction) {
    Map<KeyGenerator, List<MintTarget>> wanting =
        transaction.plan().newTargets().stream()
            .filter(MintTarget::isGenerated)
            .collect(
                Collectors.groupingBy(
                    target -> keys.apply(target.type()), LinkedHashMap::new, Collectors.toList()));
    wanting.forEach(
        (generator, targets) -> {
          switch (generator.next(targets.size())) {
            case KeyOutcome.Drawn(List<Key> drawn) -> {
              for (int i = 0; i < drawn.size(); i++) {
                targets.get(i).generate(drawn.get(i));
              }
            }
            case KeyOutcome.NoKeys why ->
                transaction.refuse(targets, new MintOutcome.KeysUnavailable(why));
          }
        });
  }
}
