package dev.coatcheck.ids.ending;

import dev.coatcheck.cluster.audit.Actor;
import dev.coatcheck.core.seal.Sealing;
import dev.coatcheck.ids.access.AllowedTypes;
import dev.coatcheck.ids.alias.Aliases;
import dev.coatcheck.ids.ending.ErasureStore.Call;
import dev.coatcheck.ids.ending.ErasureStore.Done;
import dev.coatcheck.ids.mapping.IdText;
import dev.coatcheck.ids.mapping.ResolveOutcome;
import dev.coatcheck.ids.mapping.Resolver;
import dev.coatcheck.postgres.group.GroupCommit;
import dev.coatcheck.postgres.group.GroupCommit.Attempt;
import dev.coatcheck.postgres.sql.Database;
import dev.coatcheck.postgres.sql.LockTimeout;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.function.Function;

/**
 * Erases public IDs: forgets their keys and aliases for good, and never issues them again. Every
 * instance learns of it through the change feed. Erasing again changes nothing.
 *
 * <p>Every erasure waits for the head of the change feed, so an instance does one at a time.
 */
public final class Erasures {
  private static final int WAIT_MILLIS_MAX = 900;

  private final ErasureStore store;
  private final Resolver resolver;
  private final Aliases aliases;
  private final GroupCommit<Call, Done> commits;

  /** Erases public IDs of {@code resolver}; its cache and that of {@code aliases} drop them. */
  public Erasures(Database database, Resolver resolver, Aliases aliases) {
    this.store = new ErasureStore(database);
    this.resolver = resolver;
    this.aliases = aliases;
    Semaphore one = new Semaphore(1, true);
    this.commits =
        new GroupCommit<>(
            "erase",
            new GroupCommit.Limits(1, 0, one, one, WAIT_MILLIS_MAX),
            (calls, lockMillisMax) ->
                calls.stream().map(call -> erase(call, lockMillisMax)).toList(),
            Done.of(new EraseOutcome.Busy()),
            Done.of(new EraseOutcome.Overloaded()));
  }

  /**
   * Erases a public ID, and returns after the commit.
   *
   * @param text the public ID, or one of an older system
   * @param allowed types that the actor may use
   * @param cascade whether the public IDs that were merged into it are erased too
   * @throws dev.coatcheck.postgres.sql.DatabaseUnavailable if the outcome is unknown; repeating the
   *     request tells it
   */
  public EraseOutcome erase(String text, boolean cascade, AllowedTypes allowed, Actor actor) {
    return ofToken(
        text,
        allowed,
        id -> {
          if (id.type().isSealed(id.token())) {
            return new EraseOutcome.Sealed();
          }
          Optional<Sealing.Era> kept =
              id.type().sealing().flatMap(sealing -> sealing.closedEraOf(id.token()));
          if (kept.isPresent()) {
            return new EraseOutcome.SealKeyKept(kept.get().fingerprint());
          }
          Done done = commits.settle(new Call(id, cascade, actor));
          done.tokens().forEach(token -> resolver.forget(id.type(), token));
          done.aliases().forEach(aliases::forget);
          return done.outcome();
        });
  }

  /**
   * When a public ID was erased, and what is still open.
   *
   * @throws dev.coatcheck.postgres.sql.DatabaseUnavailable if Postgres can't be asked
   */
  public EraseOutcome find(String text, AllowedTypes allowed) {
    return ofToken(
        text,
        allowed,
        id -> {
          Optional<Erasure> erasure = store.find(id);
          if (erasure.isPresent()) {
            return new EraseOutcome.Erased(erasure.get());
          }
          return resolver.resolve(text, allowed) instanceof ResolveOutcome.Unissued
              ? new EraseOutcome.Unissued(new ResolveOutcome.Unknown())
              : new EraseOutcome.NotErased();
        });
  }

  private EraseOutcome ofToken(
      String text, AllowedTypes allowed, Function<IdText.OfToken, EraseOutcome> then) {
    return switch (resolver.parse(text, allowed)) {
      case IdText.Unissued(var why) -> new EraseOutcome.Unissued(why);
      case IdText.OfErased _ -> new EraseOutcome.OfErasedAlias();
      case IdText.OfToken id -> then.apply(id);
    };
  }

  private Attempt<Done> erase(Call call, int lockMillisMax) {
    try {
      return store.erase(call, lockMillisMax);
    } catch (LockTimeout feedIsHeld) {
      return new Attempt.Done<>(Done.of(new EraseOutcome.Overloaded()));
    }
  }
}
