package dev.coatcheck.ids.mint;

import dev.coatcheck.core.id.TokenSource;
import dev.coatcheck.core.key.KeyGenerator;
import dev.coatcheck.core.key.Waiter;
import dev.coatcheck.core.observe.Event;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.ids.idempotency.IdempotentCall;
import dev.coatcheck.ids.idempotency.SharedCalls;
import dev.coatcheck.ids.mapping.Mapping;
import dev.coatcheck.ids.registry.Type;
import dev.coatcheck.postgres.sql.Coalescer;
import dev.coatcheck.postgres.sql.Database;
import dev.coatcheck.postgres.sql.DatabaseUnavailable;
import dev.coatcheck.postgres.sql.Deadline;
import dev.coatcheck.postgres.sql.LockTimeout;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/**
 * Creates public IDs. The answer is given after the commit. One (type, key) has one public ID, and
 * so has one alias, whoever asks and however often: the unique constraints settle every race.
 *
 * <p>Single requests that come at the same time share a transaction. A name that another
 * transaction works on never holds up a group: whoever brings it leaves, tries again for up to 800
 * ms, and is then told that it is busy. A batch has a transaction to itself, and 5 s from its
 * beginning.
 */
public final class Minter {
  private static final int GROUPS_MAX = 4;
  private static final int GROUP_CALLS_MAX = 100;
  private static final int ROUNDS_MAX = 8;
  private static final int ALONE_MAX = 2;
  private static final int BATCHES_MAX = 3;

  /** For names that others work on; 100 ms less than a mint has in all. */
  private static final int NAMES_MILLIS = 800;

  private static final int BATCH_BEGIN_MILLIS = 900;
  private static final Duration BATCH = Duration.ofSeconds(5);
  private static final int GROUP_LOCK_MILLIS = 25;

  /** With less than this left, another try would be broken off. */
  private static final int TRY_MILLIS_MIN = 250;

  private static final int LOCK_SPARE_MILLIS = 50;

  private static final long PAUSE_NANOS_MIN = TimeUnit.MILLISECONDS.toNanos(2);
  private static final long PAUSE_NANOS_MAX = TimeUnit.MILLISECONDS.toNanos(30);

  private static final MintOutcome BUSY = new MintOutcome.Busy();

  private final MintStore store;
  private final Observer observer;
  private final Waiter waiter;
  private final Coalescer<MintCall, Result> groups;
  private final SharedCalls<Hashed> sameKey = new SharedCalls<>();

  // Few at a time: each may wait for a row as long as its caller is ready to. Together with the
  // groups they leave room in a pool of ten, whose own queue is unfair.
  private final Semaphore alone = new Semaphore(ALONE_MAX, true);
  private final Semaphore batches = new Semaphore(BATCHES_MAX, true);

  Minter(MintStore store, Observer observer, Waiter waiter) {
    this.store = store;
    this.observer = observer;
    this.waiter = waiter;
    this.groups = new Coalescer<>("mint", GROUPS_MAX, GROUP_CALLS_MAX, this::together);
  }

  /** Draws keys of a type from the generator that {@code keys} has for it. */
  public static Minter open(
      Database database, TokenSource tokens, Function<Type, KeyGenerator> keys, Observer observer) {
    return new Minter(
        new MintStore(database, tokens::next, new KeyDraws(keys, observer)),
        observer,
        Waiter.PARKING);
  }

  /**
   * Mints for one caller.
   *
   * @throws dev.coatcheck.postgres.sql.DatabaseUnavailable if the outcome is unknown; sending the
   *     same again, with its key, alias or Idempotency-Key, settles it
   */
  public MintOutcome mint(MintCall call) {
    return call.isBatch() ? Deadline.after(BATCH).call(() -> minted(call)) : minted(call);
  }

  private MintOutcome minted(MintCall call) {
    if (call.once().isEmpty()) {
      return settle(call);
    }
    IdempotentCall<MintOutcome.Worked> once = call.once().get();
    return sameKey
        .call(once.key(), NAMES_MILLIS, () -> new Hashed(once.requestHash(), settle(call)))
        .map(
            shared ->
                shared.own()
                    ? shared.outcome().outcome()
                    : follow(call, once.requestHash(), shared.outcome()))
        .orElseGet(MintOutcome.Busy::new);
  }

  private record Hashed(String requestHash, MintOutcome outcome) {}

  private MintOutcome follow(MintCall call, String requestHash, Hashed first) {
    return switch (first.outcome()) {
      case MintOutcome.Answered answered ->
          first.requestHash().equals(requestHash)
              ? new MintOutcome.Answered(answered.answer(), true)
              : new MintOutcome.KeyReused();
      case MintOutcome.KeyReused _ -> settle(call);
      case MintOutcome other -> other;
    };
  }

  private MintOutcome settle(MintCall call) {
    long begun = waiter.nanoTime();
    boolean shares = !call.isBatch();
    while (true) {
      switch (shares ? groups.call(call) : alone(call)) {
        case Result.Settled(MintStore.Attempt.Done done) -> {
          count(done.work());
          return done.answer();
        }
        case Result.Settled(MintStore.Attempt.Locked _) -> {
          if (waiter.nanoTime() - begun >= TimeUnit.MILLISECONDS.toNanos(NAMES_MILLIS)
              || Deadline.current().leftMillis() < TRY_MILLIS_MIN) {
            return BUSY;
          }
          waiter.pause(ThreadLocalRandom.current().nextLong(PAUSE_NANOS_MIN, PAUSE_NANOS_MAX));
        }
        case Result.Undone _ -> shares = false;
      }
    }
  }

  /** What a transaction did about a call. */
  private sealed interface Result {
    record Settled(MintStore.Attempt attempt) implements Result {}

    /** Some call of the group had to be undone, and so all were: each is tried alone now. */
    record Undone() implements Result {}
  }

  private List<Result> together(List<MintCall> calls) {
    try {
      return store.run(calls, GROUP_LOCK_MILLIS).stream().<Result>map(Result.Settled::new).toList();
    } catch (MintStore.LostRace again) {
      return undone(calls);
    } catch (LockTimeout held) {
      if (calls.stream().noneMatch(MintCall::bringsNames)) {
        throw held; // nobody works on a name of theirs: the table is locked
      }
      return undone(calls);
    } catch (DatabaseUnavailable outage) {
      throw outage;
    } catch (RuntimeException bug) {
      if (calls.size() == 1) {
        throw bug;
      }
      return undone(calls); // so that it meets only the call that brought it
    }
  }

  private static List<Result> undone(List<MintCall> calls) {
    return calls.stream().<Result>map(_ -> new Result.Undone()).toList();
  }

  private Result alone(MintCall call) {
    Semaphore permits = call.isBatch() ? batches : alone;
    if (!isIn(permits, call.isBatch() ? BATCH_BEGIN_MILLIS : NAMES_MILLIS)) {
      if (call.isBatch()) {
        return refused(new MintOutcome.Overloaded());
      }
      if (call.bringsNames()) {
        return refused(BUSY);
      }
      throw new DatabaseUnavailable("mint");
    }
    try {
      return rounds(call);
    } finally {
      permits.release();
    }
  }

  private static boolean isIn(Semaphore permits, int waitMillisMax) {
    try {
      long leftMillis = Deadline.current().leftMillis() - TRY_MILLIS_MIN;
      return permits.tryAcquire(Math.min(waitMillisMax, leftMillis), TimeUnit.MILLISECONDS);
    } catch (InterruptedException stopping) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  private Result rounds(MintCall call) {
    for (int round = 0; round < ROUNDS_MAX; round++) {
      try {
        return new Result.Settled(store.run(List.of(call), lockMillis()).getFirst());
      } catch (MintStore.LostRace again) {
        // Whoever was first is in the database now.
      } catch (LockTimeout held) {
        if (!call.bringsNames()) {
          throw held;
        }
        return refused(BUSY);
      }
    }
    throw new IllegalStateException("overtaken " + ROUNDS_MAX + " times");
  }

  /** So that the server gives up before we do, and the connection stays usable. */
  private static int lockMillis() {
    long leftMillis = Deadline.current().leftMillis() - LOCK_SPARE_MILLIS;
    return Math.clamp(leftMillis, 1, NAMES_MILLIS);
  }

  private static Result refused(MintOutcome outcome) {
    return new Result.Settled(MintStore.Attempt.Done.of(outcome));
  }

  private void count(MintOutcome work) {
    switch (work) {
      case MintOutcome.Minted(List<MintOutcome.Item> items) -> {
        Map<String, int[]> byType = new HashMap<>();
        for (MintOutcome.Item item : items) {
          if (item instanceof MintOutcome.Ticket(Mapping mapping, boolean created)) {
            int[] counts = byType.computeIfAbsent(mapping.type().name(), _ -> new int[2]);
            counts[created ? 0 : 1]++;
          }
        }
        byType.forEach((type, c) -> observer.observe(new Event.Minted(type, c[0], c[1])));
      }
      case MintOutcome.Answered _ -> observer.observe(new Event.MintReplayed());
      case MintOutcome.NothingDone _,
          MintOutcome.KeyReused _,
          MintOutcome.Busy _,
          MintOutcome.Overloaded _,
          MintOutcome.KeysUnavailable _ -> {}
    }
  }
}
