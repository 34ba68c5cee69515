package dev.coatcheck.ids.access;

import dev.coatcheck.cluster.change.ChangeFeed;
import dev.coatcheck.cluster.change.ChangeKind;
import dev.coatcheck.cluster.change.TrustedCache;
import dev.coatcheck.core.attempt.NonBlockingAttempt;
import dev.coatcheck.core.id.RandomSource;
import dev.coatcheck.core.observe.Event;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.postgres.sql.Database;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Decides who may call, and creates API keys. A known key is cached as long as the change feed
 * vouches for it, so every instance soon refuses a revoked key. Unknown keys are never cached.
 */
public final class Access {
  private static final int CACHED_KEYS_MAX = 10_000;

  private final AccessStore store;
  private final RandomSource random;
  private final Observer observer;
  private final InstantSource clock;
  private final TrustedCache<String, StoredKey> known;
  private final Duration staleMax;

  /**
   * @param trust how far a cached key is trusted
   */
  public Access(
      Database database, Trust trust, RandomSource random, Observer observer, InstantSource clock) {
    this.store = new AccessStore(database);
    this.known =
        new TrustedCache<>(
            trust.feed(), ChangeKind.API_KEY, (keyId, _) -> List.of(keyId), CACHED_KEYS_MAX);
    this.staleMax = trust.staleMax();
    this.random = random;
    this.observer = observer;
    this.clock = clock;
  }

  /**
   * How far a cached key is trusted.
   *
   * @param staleMax how long a key is accepted while Postgres is unavailable
   */
  public record Trust(ChangeFeed feed, Duration staleMax) {
    /** For commands that run once: every key is looked up. */
    public static Trust none() {
      return new Trust(ChangeFeed.none(), Duration.ZERO);
    }
  }

  /** A new key. Its text can't be shown again. */
  public record Issued(ApiKey key, StoredKey stored) {}

  public sealed interface Created {
    record Made(Issued issued) implements Created {}

    /** No live key has the name, so there is no principal to share. */
    record NoSuchPrincipal() implements Created {}

    /** The live keys with the name have several principals. */
    record SeveralPrincipals(List<String> keyIds) implements Created {}
  }

  /** Creates a key with a principal of its own. It works at once on every instance. */
  public Issued create(String name, Set<Scope> scopes, Optional<Duration> validFor) {
    return switch (create(name, scopes, validFor, false)) {
      case Created.Made(Issued issued) -> issued;
      case Created.NoSuchPrincipal _, Created.SeveralPrincipals _ ->
          throw new IllegalStateException("a principal was looked for");
    };
  }

  /**
   * Creates a key. It works at once on every instance. Its principal is its name, or another text
   * if a live key already has that principal: keys with the same principal share client IDs and
   * stored responses.
   *
   * @param samePrincipal whether the key gets the principal of the live keys with its name
   */
  public Created create(
      String name, Set<Scope> scopes, Optional<Duration> validFor, boolean samePrincipal) {
    ApiKey key = ApiKey.generate(random);
    Instant now = clock.instant();
    return store.insert(
        live -> {
          String principal =
              live.stream().anyMatch(other -> other.principal().equals(name))
                  ? name + "#" + key.id()
                  : name;
          if (samePrincipal) {
            List<StoredKey> named =
                live.stream().filter(other -> other.name().equals(name)).toList();
            List<String> principals = named.stream().map(StoredKey::principal).distinct().toList();
            if (principals.size() != 1) {
              return principals.isEmpty()
                  ? new Created.NoSuchPrincipal()
                  : new Created.SeveralPrincipals(named.stream().map(StoredKey::keyId).toList());
            }
            principal = principals.getFirst();
          }
          return new Created.Made(
              new Issued(
                  key,
                  new StoredKey(
                      key.id(),
                      key.hash(),
                      name,
                      principal,
                      new Rights(
                          scopes,
                          Optional.empty(),
                          Optional.empty(),
                          Optional.empty(),
                          validFor.map(now::plus)),
                      now,
                      Optional.empty())));
        });
  }

  public List<StoredKey> list() {
    return store.all();
  }

  /** Revokes the key for good; false if it doesn't exist or was revoked before. */
  public boolean revoke(String keyId) {
    boolean revoked = store.revoke(keyId);
    known.forget(keyId);
    return revoked;
  }

  /** Whether the text is a valid key now. */
  public boolean accepts(String text) {
    return ApiKey.parse(text).flatMap(this::alive).isPresent();
  }

  /** Who holds the key, if the text is one that is valid now. */
  Optional<Caller> holder(String text) {
    return ApiKey.parse(text).flatMap(this::alive).map(StoredKey::caller);
  }

  /**
   * Who holds the key with this ID, if it is valid now. Proves nothing about the caller: for those
   * who have shown the key before.
   */
  Optional<Caller> holderOf(String keyId) {
    return known
        .get(keyId, staleMax, () -> store.find(keyId))
        .filter(found -> found.isAlive(clock.instant()))
        .map(StoredKey::caller);
  }

  /** Checks the credential of a request against the scope that the call needs, both as of now. */
  public AccessDecision decide(Credential credential, Scope needed) {
    return switch (credential) {
      case Credential.None _ -> new AccessDecision.Unauthenticated("no Authorization header");
      case Credential.Unreadable(String reason) -> refused("-", reason);
      case Credential.Key(ApiKey key) ->
          alive(key)
              .map(stored -> decide(stored.caller(), needed))
              .orElseGet(() -> refused(key.id(), "unknown, expired or revoked key"));
    };
  }

  private static AccessDecision decide(Caller caller, Scope needed) {
    return caller.rights().may(needed)
        ? new AccessDecision.Granted(caller)
        : new AccessDecision.Forbidden(needed);
  }

  private Optional<StoredKey> alive(ApiKey key) {
    return known
        .get(key.id(), staleMax, () -> store.find(key.id()))
        .filter(found -> found.hash().matches(key.hash()))
        .filter(found -> found.isAlive(clock.instant()));
  }

  private AccessDecision refused(String keyId, String reason) {
    NonBlockingAttempt.leave(); // writing to the log can block
    observer.observe(new Event.AccessRefused(keyId, reason));
    return new AccessDecision.Unauthenticated(reason);
  }
}
