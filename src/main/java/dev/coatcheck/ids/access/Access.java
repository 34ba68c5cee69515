package dev.coatcheck.ids.access;

import dev.coatcheck.cluster.change.ChangeFeed;
import dev.coatcheck.cluster.change.ChangeKind;
import dev.coatcheck.cluster.change.TrustedCache;
import dev.coatcheck.core.attempt.NonBlockingAttempt;
import dev.coatcheck.core.observe.Event;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.postgres.group.Coalescer;
import dev.coatcheck.postgres.sql.Database;
import java.net.InetAddress;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * Decides who may call. A known key is cached as long as the change feed vouches for it, so every
 * instance soon refuses a revoked key. Unknown keys are never cached. A key expires by the clock of
 * Postgres, which is read with it, so the clocks of gateways have no effect.
 */
public final class Access {
  /**
   * About 400 bytes each. Beyond that a key that is not cached costs its request a query, as a key
   * does that is used for the first time. Requests that come at the same time share it. (Up to half
   * of the maximum Caffeine records no reads, which were a tenth of the CPU of 50,000 keys.)
   */
  private static final int CACHED_KEYS_MAX = 200_000;

  private static final int GROUP_KEYS_MAX = 200;

  private final AccessStore store;
  private final Observer observer;
  private final LongSupplier nanoTime;
  private final Coalescer<String, Optional<KnownKey>> together;
  private final TrustedCache<String, KnownKey> known;
  private final Duration staleMax;
  private final KeyUses uses;

  /**
   * @param staleMax how long a cached key is accepted while Postgres is unavailable
   * @param groupsMax how many statements read the keys of single requests at a time
   */
  public Access(
      Database database,
      ChangeFeed feed,
      Duration staleMax,
      int groupsMax,
      Observer observer,
      LongSupplier nanoTime) {
    this.store = new AccessStore(database);
    this.together = new Coalescer<>("API key", groupsMax, GROUP_KEYS_MAX, this::readInOrder);
    this.known =
        new TrustedCache<>(feed, ChangeKind.API_KEY, (keyId, _) -> List.of(keyId), CACHED_KEYS_MAX);
    this.staleMax = staleMax;
    this.uses = new KeyUses(store, observer);
    this.observer = observer;
    this.nanoTime = nanoTime;
  }

  /** Drops a changed key from the cache of this instance, before the change feed does. */
  public void forget(String keyId) {
    known.forget(keyId);
  }

  /** Begins to write when keys are used; closing it writes the rest. */
  public AutoCloseable recordUses() {
    return uses.started();
  }

  /** Whether the text is a valid key now. */
  public boolean accepts(String text) {
    return ApiKey.parse(text).flatMap(this::alive).isPresent();
  }

  /** Who holds the key, if the text is one that is valid now. */
  Optional<Caller> holder(String text) {
    return ApiKey.parse(text).flatMap(this::alive).map(KnownKey::caller);
  }

  /**
   * Who holds the key with this ID, if it is valid now. Proves nothing about the caller: for those
   * who have shown the key before.
   */
  Optional<Caller> holderOf(String keyId) {
    return alive(keyId, _ -> true).map(KnownKey::caller);
  }

  /**
   * Checks the credential of a request against the scope that the call needs, both as of now.
   *
   * @param address of the client; asked only for a key with ranges
   */
  public AccessDecision decide(Credential credential, Scope needed, Supplier<InetAddress> address) {
    return switch (credential) {
      case Credential.None _ -> new AccessDecision.Unauthenticated();
      case Credential.Unreadable(String reason) -> refused("-", reason);
      case Credential.Key(ApiKey key) ->
          alive(key)
              .map(stored -> decide(stored.caller(), needed, address))
              .orElseGet(() -> refused(key.id(), "unknown, expired or revoked key"));
    };
  }

  /** The address first: a stolen key must not tell what it may do. */
  private AccessDecision decide(Caller caller, Scope needed, Supplier<InetAddress> address) {
    if (caller.rights().ranges().isPresent() && !caller.rights().mayComeFrom(address.get())) {
      log(caller.keyId(), "address outside the ranges of the key");
      return new AccessDecision.AddressNotAllowed();
    }
    return caller.rights().may(needed)
        ? new AccessDecision.Granted(caller)
        : new AccessDecision.Forbidden(needed);
  }

  private Optional<KnownKey> alive(ApiKey key) {
    return alive(key.id(), found -> found.matches(key.hash()));
  }

  private Optional<KnownKey> alive(String keyId, Predicate<KnownKey> isShown) {
    Optional<KnownKey> alive =
        known
            .get(keyId, staleMax, this::load)
            .filter(found -> found.isAlive(nanoTime.getAsLong()))
            .filter(isShown);
    alive.ifPresent(found -> uses.note(found));
    return alive;
  }

  /** Requests that need one key each share a statement. */
  private Map<String, KnownKey> load(List<String> keyIds) {
    if (keyIds.size() > 1) {
      return store.find(keyIds, nanoTime);
    }
    NonBlockingAttempt.leave(); // permits to wait without a thread are for known callers
    return together
        .call(keyIds.getFirst())
        .map(found -> Map.of(found.keyId(), found))
        .orElseGet(Map::of);
  }

  private List<Optional<KnownKey>> readInOrder(List<String> keyIds) {
    Map<String, KnownKey> found = store.find(keyIds.stream().distinct().toList(), nanoTime);
    return keyIds.stream().map(keyId -> Optional.ofNullable(found.get(keyId))).toList();
  }

  private AccessDecision refused(String keyId, String reason) {
    log(keyId, reason);
    return new AccessDecision.Unauthenticated();
  }

  private void log(String keyId, String reason) {
    NonBlockingAttempt.leave(); // writing to the log can block
    observer.observe(new Event.AccessRefused(keyId, reason));
  }
}
