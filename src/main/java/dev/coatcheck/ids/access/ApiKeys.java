package dev.coatcheck.ids.access;

import dev.coatcheck.cluster.audit.Actor;
import dev.coatcheck.core.id.RandomSource;
import dev.coatcheck.ids.access.KeyOutcome.BeyondCaller;
import dev.coatcheck.postgres.connection.Deadline;
import dev.coatcheck.postgres.sql.Database;
import dev.coatcheck.postgres.sql.DatabaseUnavailable;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.SequencedMap;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Creates, changes, rotates and ends API keys.
 *
 * <h2>Why nobody gains a right</h2>
 *
 * A caller must hold all rights of a key that it creates, and those of a key that it changes or
 * rotates before and after, because a rotation answers with a secret. The rights of the caller are
 * read again in the transaction of the change, which holds the lock on all keys. So a key that was
 * revoked a moment ago makes no successor, on no instance, and a revocation sees every successor
 * there is. Commands that work in the database itself may do all that a key with all rights may.
 *
 * <p>Each change and its entry in the audit are one transaction. Other instances hear of it by the
 * change feed.
 */
public final class ApiKeys {
  /** A thief may have made a chain of many thousand successors, and has no way to save it. */
  private static final Duration REVOCATION_MAX = Duration.ofSeconds(10);

  /** How many leaked keys one call ends. */
  public static final int LEAKED_MAX = 100;

  /** How the audit calls those who change something without an API key. */
  private static final Set<String> RESERVED = Set.of(Actor.operator().name(), Actor.ANONYMOUS);

  private final AccessStore store;
  private final Consumer<String> forget;
  private final Optional<RateLimit> defaultLimit;
  private final RandomSource random;

  /**
   * @param forget drops a changed key from the cache of this instance, by its ID
   * @param defaultLimit of keys that have none of their own
   */
  public ApiKeys(
      Database database,
      Consumer<String> forget,
      Optional<RateLimit> defaultLimit,
      RandomSource random) {
    this.store = new AccessStore(database);
    this.forget = forget;
    this.defaultLimit = defaultLimit;
    this.random = random;
  }

  /** What a change may leave of a key's name and rights. */
  public record Patch(String name, Rights rights) {}

  /**
   * How a key is rotated.
   *
   * @param overlap how long the old key stays in force; up to {@link #OVERLAP_MAX}
   * @param expiresAt of the successor; empty: that of the old key
   */
  public record Rotation(Duration overlap, Optional<Instant> expiresAt) {
    public static final Duration OVERLAP_MAX = Duration.ofDays(30);

    public Rotation {
      if (overlap.isNegative() || overlap.compareTo(OVERLAP_MAX) > 0) {
        throw new IllegalArgumentException("overlap " + overlap);
      }
    }
  }

  /**
   * A key as it was read.
   *
   * @param status by the clock of Postgres
   * @param lastUsedAt to the minute
   */
  public record Listed(StoredKey key, StoredKey.Status status, Optional<Instant> lastUsedAt) {
    /** A key that was made just now. */
    public static Listed made(StoredKey key) {
      return new Listed(key, StoredKey.Status.ACTIVE, Optional.empty());
    }
  }

  /**
   * Which keys to list, from the oldest on.
   *
   * @param types only keys for none but these types
   * @param after ID of the key before the first one
   */
  public record Filter(
      AllowedTypes types,
      Optional<String> principal,
      Optional<StoredKey.Status> status,
      Optional<String> after,
      int limit) {}

  /** Whose rights bound a change. */
  private record Authority(Optional<String> keyId, String principal, Rights rights) {
    static Authority of(StoredKey key) {
      return new Authority(Optional.of(key.keyId()), key.principal(), key.rights());
    }

    static Authority ofOperator(Actor operator) {
      return new Authority(Optional.empty(), operator.name(), Rights.of(Set.of(Scope.ALL)));
    }
  }

  /**
   * Creates a key, which works at once on every instance. Without a principal it gets a new one:
   * its name, or that and its ID if a key has or had that principal. A long name is cut for it.
   *
   * @throws DatabaseUnavailable if Postgres can't be asked; the outcome is unknown
   */
  public KeyOutcome create(NewKey wanted, Actor actor) {
    return create(ApiKey.generate(random), wanted, actor);
  }

  /**
   * As {@link #create(NewKey, Actor)}, once for each ID: a key that has it was made by the same
   * call before.
   *
   * @param keyId of {@link ConsoleSessions.Token#keyId}
   * @throws DatabaseUnavailable if Postgres can't be asked; repeating the call tells the outcome
   */
  public KeyOutcome createOnce(String keyId, NewKey wanted, Actor actor) {
    return create(ApiKey.generate(keyId, random), wanted, actor);
  }

  private KeyOutcome create(ApiKey key, NewKey wanted, Actor actor) {
    Rights rights = wanted.rights();
    return changing(
        "API key create",
        actor,
        Optional.empty(),
        Optional.empty(),
        (keys, caller) -> {
          Optional<StoredKey> before = keys.find(key.id());
          if (before.isPresent()) {
            return new KeyOutcome.MadeBefore(before.get());
          }
          Optional<KeyOutcome> refusal = refusal(caller, rights).or(() -> unsound(keys, rights));
          if (refusal.isPresent()) {
            return refusal.get();
          }
          Optional<String> asked = wanted.principal();
          if (asked.isPresent()
              && !asked.get().equals(caller.principal())
              && !caller.rights().may(Scope.ALL)
              && isTaken(keys, asked.get())) {
            return new KeyOutcome.PrincipalTaken();
          }
          String fresh =
              isTaken(keys, wanted.name()) ? wanted.principalWith(key.id()) : wanted.name();
          StoredKey stored =
              made(keys, key, key.id(), wanted.name(), asked.orElse(fresh), rights, caller);
          keys.insert(stored);
          Map<String, @Nullable Object> detail = new LinkedHashMap<>();
          detail.put("name", stored.name());
          detail.put("principal", stored.principal());
          detail.putAll(rights.json());
          keys.audit(actor, "key.create", stored.keyId(), detail);
          return new KeyOutcome.Made(key, stored);
        });
  }

  /**
   * Changes a key that is in force; nothing happens if nothing differs.
   *
   * @param change runs within the transaction; what it throws ends the call, and nothing was
   *     changed
   * @param version the one that was read; empty: any
   * @throws DatabaseUnavailable if Postgres can't be asked; the outcome is unknown
   */
  public KeyOutcome patch(
      String keyId, Function<StoredKey, Patch> change, OptionalInt version, Actor actor) {
    return changing(
        "API key patch",
        actor,
        Optional.of(keyId),
        Optional.empty(),
        (keys, caller) -> {
          Optional<StoredKey> found = keys.find(keyId);
          if (found.isEmpty()) {
            return new KeyOutcome.Unknown();
          }
          StoredKey key = found.get();
          if (version.isPresent() && version.getAsInt() != key.version()) {
            return new KeyOutcome.VersionDiffers();
          }
          if (!key.isAlive(keys.now())) {
            return new KeyOutcome.Ended();
          }
          Patch patch = change.apply(key);
          Rights rights = patch.rights();
          Optional<KeyOutcome> refusal = refusal(keys, caller, key.rights(), rights);
          if (refusal.isPresent()) {
            return refusal.get();
          }
          if (patch.name().equals(key.name()) && rights.equals(key.rights())) {
            return new KeyOutcome.Patched(key);
          }
          StoredKey changed = key.changed(patch.name(), rights, key.successor());
          keys.update(changed);
          keys.audit(actor, "key.patch", keyId, difference(key, changed));
          keys.tell(List.of(keyId));
          return new KeyOutcome.Patched(changed);
        });
  }

  /**
   * Makes a key with the same name, principal and rights. The old key ends after the overlap, or at
   * its own expiry if that is earlier.
   *
   * @throws DatabaseUnavailable if Postgres can't be asked; the outcome is unknown
   */
  public KeyOutcome rotate(String keyId, Rotation rotation, Actor actor) {
    KeyOutcome outcome =
        changing(
            "API key rotate",
            actor,
            Optional.of(keyId),
            Optional.of(keyId),
            (keys, caller) ->
                keys.find(keyId)
                    .map(key -> rotated(keys, caller, key, rotation, actor))
                    .orElseGet(KeyOutcome.Unknown::new));
    // A key that rotates itself twice at once, without an overlap, has ended in between.
    boolean wasRotated =
        outcome instanceof KeyOutcome.CallerEnded
            && actor.keyId().equals(Optional.of(keyId))
            && find(keyId).flatMap(listed -> listed.key().successor()).isPresent();
    return wasRotated ? new KeyOutcome.AlreadyRotated() : outcome;
  }

  private KeyOutcome rotated(
      ApiKeyTable keys, Authority caller, StoredKey key, Rotation rotation, Actor actor) {
    if (key.successor().isPresent()) {
      return new KeyOutcome.AlreadyRotated();
    }
    if (!key.isAlive(keys.now())) {
      return new KeyOutcome.Ended();
    }
    Rights rights = key.rights().expiringAt(rotation.expiresAt().or(key.rights()::expiresAt));
    Optional<KeyOutcome> refusal = refusal(keys, caller, key.rights(), rights);
    if (refusal.isPresent()) {
      return refusal.get();
    }
    Instant end = keys.now().plus(rotation.overlap());
    Instant oldEnd = key.rights().expiresAt().filter(end::isAfter).orElse(end);
    ApiKey fresh = ApiKey.generate(random);
    StoredKey successor =
        made(keys, fresh, key.chain(), key.name(), key.principal(), rights, caller);
    keys.insert(successor);
    keys.update(
        key.changed(
            key.name(),
            key.rights().expiringAt(Optional.of(oldEnd)),
            Optional.of(successor.keyId())));
    keys.audit(
        actor,
        "key.rotate",
        key.keyId(),
        Map.of("successor", ApiKey.shown(successor.keyId()), "expires_at", oldEnd.toString()));
    keys.tell(List.of(key.keyId()));
    return new KeyOutcome.Made(fresh, successor);
  }

  /**
   * Ends a key for good, and with it every successor that it made itself by rotation, and those
   * that they made: a thief may have rotated it. A key that was ended before stays so, and its
   * successors end.
   *
   * @param keepsSuccessors whether only the key itself ends
   * @throws DatabaseUnavailable if Postgres can't be asked; the outcome is unknown
   */
  public KeyOutcome revoke(String keyId, boolean keepsSuccessors, Actor actor) {
    return Deadline.after(REVOCATION_MAX)
        .call(
            () ->
                changing(
                    "API key revoke",
                    actor,
                    Optional.of(keyId),
                    Optional.of(keyId),
                    (keys, _) -> revoked(keys, keyId, keepsSuccessors, actor)));
  }

  private static KeyOutcome revoked(
      ApiKeyTable keys, String keyId, boolean keepsSuccessors, Actor actor) {
    if (keys.find(keyId).isEmpty()) {
      return new KeyOutcome.Unknown();
    }
    List<String> ended = keys.revoke(keyId, keepsSuccessors);
    List<String> successors = successors(keyId, ended);
    if (!ended.isEmpty()) {
      keys.audit(actor, "key.revoke", keyId, Map.of("successors", successors));
      keys.tell(ended);
    }
    return new KeyOutcome.Revoked(keys.find(keyId).orElseThrow(), successors.size());
  }

  /**
   * Ends leaked keys with their successors, for a caller that has nothing but their texts. Returns
   * after the commit, and doesn't tell which of them were keys.
   *
   * @param texts at most {@link #LEAKED_MAX}
   * @throws DatabaseUnavailable if Postgres can't be asked; the outcome is unknown
   */
  public void revokeLeaked(List<String> texts, Actor actor) {
    List<ApiKey> leaked = texts.stream().flatMap(text -> ApiKey.parse(text).stream()).toList();
    Deadline.after(REVOCATION_MAX)
        .call(() -> store.changingIfAny(leaked, (keys, known) -> revokedLeaked(keys, known, actor)))
        .forEach(forget);
  }

  private static List<String> revokedLeaked(ApiKeyTable keys, List<String> known, Actor actor) {
    SequencedMap<String, List<String>> endedBy = new LinkedHashMap<>();
    known.forEach(keyId -> endedBy.put(keyId, keys.revoke(keyId, false)));
    // A key that had ended before may end successors that were kept then.
    endedBy.values().removeIf(List::isEmpty);
    endedBy.forEach(
        (keyId, ended) ->
            keys.audit(
                actor,
                "key.revoke",
                keyId,
                Map.of("leaked", true, "successors", successors(keyId, ended))));
    List<String> all = endedBy.values().stream().flatMap(List::stream).toList();
    keys.tell(all);
    return all;
  }

  private static List<String> successors(String keyId, List<String> ended) {
    return ended.stream().filter(id -> !id.equals(keyId)).map(ApiKey::shown).toList();
  }

  /** The key with an ID; empty if there is none. */
  public Optional<Listed> find(String keyId) {
    return store.listed(keyId);
  }

  /** A page, from the oldest key on, and of one key more if there are more. */
  public List<Listed> list(Filter filter) {
    return store.list(filter);
  }

  /** The keys in force with a name, from the oldest on. */
  public List<StoredKey> liveNamed(String name) {
    return store.liveNamed(name);
  }

  /** The time by the clock of Postgres, by which keys expire. */
  public Instant now() {
    return store.now();
  }

  /** A key as answers and commands show it. */
  public static Map<String, @Nullable Object> json(Listed listed) {
    StoredKey key = listed.key();
    Map<String, @Nullable Object> json = new LinkedHashMap<>();
    json.put("object", "api_key");
    json.put("id", ApiKey.shown(key.keyId()));
    json.put("name", key.name());
    json.put("principal", key.principal());
    json.putAll(key.rights().json());
    json.put("created_at", key.createdAt().toString());
    json.put("last_used_at", listed.lastUsedAt().map(Instant::toString).orElse(null));
    json.put("status", listed.status().wireName());
    json.put("made_by", key.madeBy().map(ApiKey::shown).orElse(null));
    json.put("successor", key.successor().map(ApiKey::shown).orElse(null));
    json.put("revoked_at", key.revokedAt().map(Instant::toString).orElse(null));
    return json;
  }

  /**
   * Changes keys by the rights of the caller, as they are in the transaction.
   *
   * @param changed ID of the key that is changed
   * @param own ID of a key that may do this without a scope, because it does it to itself
   */
  private KeyOutcome changing(
      String operation,
      Actor actor,
      Optional<String> changed,
      Optional<String> own,
      BiFunction<ApiKeyTable, Authority, KeyOutcome> work) {
    KeyOutcome outcome =
        store.changing(
            operation,
            keys -> {
              if (actor.keyId().isEmpty()) {
                return work.apply(keys, Authority.ofOperator(actor));
              }
              Optional<StoredKey> caller =
                  keys.find(actor.keyId().get()).filter(key -> key.isAlive(keys.now()));
              if (caller.isEmpty()) {
                return new KeyOutcome.CallerEnded();
              }
              return actor.keyId().equals(own) || caller.get().rights().may(Scope.ACCESS_ADMIN)
                  ? work.apply(keys, Authority.of(caller.get()))
                  : new KeyOutcome.CallerLacksScope();
            });
    changed.ifPresent(forget);
    return outcome;
  }

  private Optional<KeyOutcome> refusal(
      ApiKeyTable keys, Authority caller, Rights before, Rights after) {
    return refusal(caller, before).or(() -> refusal(caller, after)).or(() -> unsound(keys, after));
  }

  private Optional<KeyOutcome> refusal(Authority caller, Rights rights) {
    return caller.rights().firstBeyond(rights, defaultLimit).map(BeyondCaller::new);
  }

  private static Optional<KeyOutcome> unsound(ApiKeyTable keys, Rights rights) {
    if (rights.expiresAt().filter(end -> !keys.now().isBefore(end)).isPresent()) {
      return Optional.of(new KeyOutcome.ExpiryPassed());
    }
    return rights.types().map(keys::areTypes).orElse(true)
        ? Optional.empty()
        : Optional.of(new KeyOutcome.TypeUnknown());
  }

  private static boolean isTaken(ApiKeyTable keys, String principal) {
    return RESERVED.contains(principal) || keys.everHad(principal);
  }

  private static StoredKey made(
      ApiKeyTable keys,
      ApiKey key,
      String chain,
      String name,
      String principal,
      Rights rights,
      Authority caller) {
    return new StoredKey(
        key.id(),
        chain,
        key.hash(),
        name,
        principal,
        rights,
        1,
        caller.keyId(),
        Optional.empty(),
        keys.now(),
        Optional.empty());
  }

  private static Map<String, @Nullable Object> difference(StoredKey before, StoredKey after) {
    Map<String, @Nullable Object> detail = new LinkedHashMap<>();
    if (!before.name().equals(after.name())) {
      detail.put("name", after.name());
    }
    Map<String, @Nullable Object> old = before.rights().json();
    after
        .rights()
        .json()
        .forEach(
            (field, value) -> {
              if (!Objects.equals(old.get(field), value)) {
                detail.put(field, value);
              }
            });
    return detail;
  }
}
