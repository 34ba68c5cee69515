package dev.coatcheck.ids.access;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.cluster.audit.Actor;
import dev.coatcheck.cluster.change.ChangeFeed;
import dev.coatcheck.core.attempt.NonBlockingAttempt;
import dev.coatcheck.core.id.RandomSource;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.postgres.connection.DatabaseSettings;
import dev.coatcheck.postgres.connection.Deadline;
import dev.coatcheck.postgres.sql.Database;
import dev.coatcheck.postgres.sql.TestDatabase;
import dev.coatcheck.postgres.sql.TestSql;
import java.net.InetAddress;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Changes of API keys on one database, by callers whose cached keys may be out of date. */
class ApiKeysTest {
  private static final Observer OBSERVER = new Observer();
  private static final TestDatabase FRESH = TestDatabase.fresh();
  private static final DatabaseSettings SETTINGS = FRESH.settings(8);
  private static final Database DATABASE = Database.open(SETTINGS, "test", OBSERVER);
  private static final String COUNT = "select count(*) from coatcheck.api_key ";
  private static final long STARTED = System.nanoTime();

  /** Of a clock that is slow, so that nothing grows old while the machine is busy. */
  private static final ChangeFeed FEED =
      ChangeFeed.open(SETTINGS, OBSERVER, ApiKeysTest::slowNano, () -> slowNano() / 1_000_000);

  private static final Instant NOW = now();
  private static final ApiKeys KEYS =
      new ApiKeys(DATABASE, _ -> {}, Optional.empty(), new RandomSource());

  private static Instant now() {
    return Instant.now().truncatedTo(ChronoUnit.MICROS);
  }

  private static long slowNano() {
    return STARTED + (System.nanoTime() - STARTED) / 20;
  }

  @AfterAll
  static void close() {
    FEED.close();
    DATABASE.close();
  }

  @Test
  void aKeyThatWasRevokedAMomentAgoMakesNothing() {
    StoredKey thief = made(Scope.ALL);
    StoredKey other = made(Scope.IDS_READ);
    revoke(thief, false);

    Actor late = by(thief);
    NewKey wanted = new NewKey("late", Optional.empty(), Rights.of(Set.of(Scope.IDS_READ)));
    assertThat(KEYS.create(wanted, late)).isInstanceOf(KeyOutcome.CallerEnded.class);
    assertThat(rotate(thief, Duration.ZERO, late)).isInstanceOf(KeyOutcome.CallerEnded.class);
    assertThat(rotate(other, Duration.ZERO, late)).isInstanceOf(KeyOutcome.CallerEnded.class);
    assertThat(KEYS.revoke(other.keyId(), false, late)).isInstanceOf(KeyOutcome.CallerEnded.class);
    assertThat(
            KEYS.patch(
                other.keyId(),
                key -> new ApiKeys.Patch("late", key.rights()),
                OptionalInt.empty(),
                late))
        .isInstanceOf(KeyOutcome.CallerEnded.class);
  }

  @Test
  void aKeyThatLostItsRightsAMomentAgoMakesNothing() {
    StoredKey admin = made(Scope.ACCESS_ADMIN, Scope.IDS_READ);
    KeyOutcome _ =
        KEYS.patch(
            admin.keyId(),
            key -> new ApiKeys.Patch("less", Rights.of(Set.of(Scope.ACCESS_ADMIN))),
            OptionalInt.empty(),
            Actor.operator());

    NewKey wanted = new NewKey("late", Optional.empty(), Rights.of(Set.of(Scope.IDS_READ)));
    assertThat(KEYS.create(wanted, by(admin))).isEqualTo(new KeyOutcome.BeyondCaller("scopes"));
  }

  @Test
  void ofManyRotationsAtOnceOneWins() throws Exception {
    StoredKey key = made(Scope.IDS_READ);
    for (Duration overlap : List.of(Duration.ZERO, Duration.ofDays(1))) {
      StoredKey rotated = overlap.isZero() ? key : made(Scope.IDS_READ);
      List<Future<KeyOutcome>> outcomes = new ArrayList<>();
      try (ExecutorService threads = Executors.newFixedThreadPool(8)) {
        for (int i = 0; i < 8; i++) {
          outcomes.add(threads.submit(() -> rotate(rotated, overlap, by(rotated))));
        }
      }
      int won = 0;
      for (Future<KeyOutcome> outcome : outcomes) {
        if (outcome.get() instanceof KeyOutcome.Made) {
          won++;
        } else {
          assertThat(outcome.get()).isInstanceOf(KeyOutcome.AlreadyRotated.class);
        }
      }
      assertThat(won).isEqualTo(1);
    }
  }

  @Test
  void theOldKeyEndsWithTheOverlapOrAtItsOwnExpiryWhicheverIsFirst() {
    StoredKey lasting = made(Scope.IDS_READ);
    StoredKey soonOver = made(expiring(Duration.ofMinutes(10)));
    StoredKey late = made(expiring(Duration.ofDays(10)));
    for (StoredKey key : List.of(lasting, soonOver, late)) {
      KeyOutcome outcome = rotate(key, Duration.ofHours(1), Actor.operator());
      assertThat(((KeyOutcome.Made) outcome).stored().rights())
          .as("the successor keeps all rights, the expiry too")
          .isEqualTo(key.rights());
    }

    Instant inAnHour = NOW.plus(Duration.ofHours(1));
    for (StoredKey key : List.of(lasting, late)) {
      Instant end = stored(key).rights().expiresAt().orElseThrow();
      assertThat(end).isBetween(inAnHour, inAnHour.plus(Duration.ofMinutes(30)));
      assertThat(stored(key).status(end.minusMillis(1))).isEqualTo(StoredKey.Status.ACTIVE);
      assertThat(stored(key).status(end)).isEqualTo(StoredKey.Status.EXPIRED);
    }
    assertThat(stored(soonOver).rights().expiresAt()).contains(NOW.plus(Duration.ofMinutes(10)));
  }

  @Test
  void aThiefWhoRotatesLosesTheWholeChainHoweverLongItIs() {
    StoredKey stolen = made(Scope.IDS_READ);
    StoredKey last = stolen;
    List<StoredKey> chain = new ArrayList<>(List.of(stolen));
    for (int i = 0; i < 30; i++) {
      last = ((KeyOutcome.Made) rotate(last, Duration.ZERO, by(last))).stored();
      chain.add(last);
    }
    // Beyond what is worth making one by one: 10,000 keys, each made by the one before.
    FRESH
        .sql()
        .execute(
            """
            insert into coatcheck.api_key
              (key_id, secret_hash, name, principal, scopes, made_by, successor)
            select 'chain' || n, sha256(n::text::bytea), 'chain', 'chain', '{ids:read}',
              case n when 1 then '%s' else 'chain' || n - 1 end,
              case when n < 10000 then 'chain' || n + 1 end
            from generate_series(1, 10000) n\
            """
                .formatted(last.keyId()),
            "update coatcheck.api_key set successor = 'chain1' where key_id = '%s'"
                .formatted(last.keyId()));

    KeyOutcome ended = revoke(stolen, false);

    assertThat(((KeyOutcome.Revoked) ended).successors()).isEqualTo(10_030);
    assertThat(chain)
        .allSatisfy(key -> assertThat(stored(key).status(NOW)).isEqualTo(StoredKey.Status.REVOKED));
    assertThat(FRESH.sql().number(COUNT + "where principal = 'chain' and revoked_at is null"))
        .isZero();
  }

  @Test
  void aSuccessorThatAnotherKeyMadeStays() {
    StoredKey admin = made(Scope.ALL);
    StoredKey key = made(Scope.IDS_READ);
    StoredKey successor = ((KeyOutcome.Made) rotate(key, Duration.ofDays(1), by(admin))).stored();
    StoredKey created =
        ((KeyOutcome.Made)
                KEYS.create(
                    new NewKey("made", Optional.empty(), Rights.of(Set.of(Scope.IDS_READ))),
                    by(admin)))
            .stored();

    assertThat(((KeyOutcome.Revoked) revoke(key, false)).successors()).isZero();
    assertThat(stored(successor).revokedAt()).isEmpty();

    // The admin's key received the secret of the successor, and made the other key in the open.
    assertThat(((KeyOutcome.Revoked) revoke(admin, true)).successors()).isZero();
    assertThat(stored(successor).revokedAt()).isEmpty();
    assertThat(((KeyOutcome.Revoked) revoke(admin, false)).successors()).isEqualTo(1);
    assertThat(stored(successor).revokedAt()).isPresent();
    assertThat(stored(created).revokedAt()).isEmpty();
    assertThat(stored(created).madeBy()).contains(admin.keyId());
  }

  @Test
  void leakedKeysEndByTheirWholeTextOnly() {
    ApiKey leaked = TestKeys.create(KEYS, "leaked", Rights.of(Set.of(Scope.IDS_READ)));
    StoredKey key = KEYS.find(leaked.id()).orElseThrow().key();
    ApiKey other = ApiKey.generate(new RandomSource());
    String forged =
        ApiKeyTest.withCheck("ccg_live_" + leaked.id() + other.secretText().substring(21, 54));
    Actor anonymous =
        new Actor(Actor.ANONYMOUS, Optional.empty(), Optional.of("192.0.2.1"), Optional.empty());
    StoredKey successor = ((KeyOutcome.Made) rotate(key, Duration.ofDays(1), by(key))).stored();

    KEYS.revokeLeaked(List.of(forged, "x", "", leaked.id(), other.secretText()), anonymous);
    assertThat(stored(key).revokedAt()).isEmpty();

    // A thief can publish other texts with the ID of the key, before and after.
    KEYS.revokeLeaked(List.of("x", forged, leaked.secretText(), forged), anonymous);
    assertThat(stored(key).revokedAt()).isPresent();
    assertThat(stored(successor).revokedAt()).isPresent();
    assertThat(
            FRESH
                .sql()
                .texts(
                    "select actor || ' ' || detail from coatcheck.audit_entry"
                        + " where action = 'key.revoke' and 'key_"
                        + leaked.id()
                        + "' = any(subjects)"))
        .containsExactly(
            "anonymous {\"leaked\": true, \"successors\": [\"key_" + successor.keyId() + "\"]}");
  }

  @Test
  void successorsThatWereKeptEndWithTheirLeakedKeyAndTheAuditSaysSo() {
    ApiKey leaked = TestKeys.create(KEYS, "kept", Rights.of(Set.of(Scope.IDS_READ)));
    StoredKey key = KEYS.find(leaked.id()).orElseThrow().key();
    StoredKey successor = ((KeyOutcome.Made) rotate(key, Duration.ofDays(1), by(key))).stored();
    revoke(key, true);
    assertThat(stored(successor).revokedAt()).isEmpty();

    KEYS.revokeLeaked(List.of(leaked.secretText()), Actor.operator());

    assertThat(stored(successor).revokedAt()).isPresent();
    assertThat(
            FRESH
                .sql()
                .texts(
                    "select detail from coatcheck.audit_entry where action = 'key.revoke'"
                        + " and detail->>'leaked' = 'true' and 'key_"
                        + leaked.id()
                        + "' = any(subjects)"))
        .containsExactly("{\"leaked\": true, \"successors\": [\"key_" + successor.keyId() + "\"]}");
  }

  @Test
  void aKeyWithoutAMaximumOfLeasesGivesItselfNoHigherOne() {
    StoredKey key = made("leases", Optional.empty(), Scope.ACCESS_ADMIN, Scope.KEYS_WRITE);
    Rights more =
        new Rights(
            key.rights().scopes(),
            Optional.empty(),
            Optional.empty(),
            Optional.empty(),
            Optional.of(17),
            Optional.empty());

    assertThat(
            KEYS.patch(
                key.keyId(),
                now -> new ApiKeys.Patch(now.name(), more),
                OptionalInt.empty(),
                by(key)))
        .isEqualTo(new KeyOutcome.BeyondCaller("lease_max"));
  }

  @Test
  void principalsCantBeTakenOver() {
    StoredKey shop = made("shop", Optional.of("shop"), Scope.IDS_READ, Scope.ACCESS_ADMIN);
    StoredKey ended = made("old", Optional.of("old"), Scope.IDS_READ);
    revoke(ended, false);

    for (String taken : List.of("old", "operator", "anonymous")) {
      assertThat(create("x", Optional.of(taken), by(shop)))
          .isInstanceOf(KeyOutcome.PrincipalTaken.class);
    }
    assertThat(principal(create("x", Optional.of("shop"), by(shop)))).isEqualTo("shop");
    assertThat(principal(create("x", Optional.of("fresh"), by(shop)))).isEqualTo("fresh");
    assertThat(principal(create("old", Optional.empty(), by(shop)))).matches("old#.{12}");
    assertThat(principal(create("operator", Optional.empty(), by(shop)))).matches("operator#.{12}");
    assertThat(principal(create("x", Optional.of("old"), by(made(Scope.ALL))))).isEqualTo("old");
  }

  @Test
  void aNewPrincipalIsNoLongerThanAName() {
    for (String name :
        List.of("n".repeat(NewKey.NAME_LENGTH_MAX), "n".repeat(86) + "\uD83D\uDE00")) {
      assertThat(principal(create(name, Optional.empty(), by(made(Scope.ALL))))).isEqualTo(name);

      String second = principal(create(name, Optional.empty(), by(made(Scope.ALL))));

      assertThat(second).matches("n{86,87}#.{12}");
      assertThat(NewKey.isName(second)).isTrue();
    }
  }

  /** Each is made with a text of its own; a second request with it needs no query. */
  @Test
  @Tag("faults")
  void fiftyThousandLiveKeysStayInMemory() throws Exception {
    int count = 50_000;
    RandomSource random = new RandomSource();
    List<ApiKey> keys = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      keys.add(ApiKey.generate(random));
    }
    for (int from = 0; from < count; from += 5_000) {
      List<ApiKey> some = keys.subList(from, from + 5_000);
      Deadline.after(Duration.ofMinutes(1)).run(() -> insert(some));
    }
    Access access =
        new Access(DATABASE, FEED, Duration.ofSeconds(60), 1, OBSERVER, System::nanoTime);

    try (ExecutorService threads = Executors.newFixedThreadPool(8)) {
      for (int from = 0; from < count; from += count / 8) {
        List<ApiKey> share = keys.subList(from, from + count / 8);
        var _ = threads.submit(() -> share.forEach(key -> allowed(access, key)));
      }
    }

    assertThat(keys).allMatch(key -> isAllowedFromMemory(access, key));
    KeyUses uses = (KeyUses) access.recordUses();
    uses.flush();
    uses.flush();
    assertThat(
            FRESH
                .sql()
                .number(
                    "select count(*) from coatcheck.api_key_use join coatcheck.api_key using"
                        + " (key_id) where name = 'many'"))
        .isEqualTo(count);
    assertThat(KEYS.find(keys.getFirst().id()).orElseThrow().lastUsedAt()).isPresent();
    uses.close();
  }

  @Test
  void whoHasASessionUsesTheApiKeyOfIt() {
    StoredKey key = made(Scope.IDS_READ);
    Access access =
        new Access(DATABASE, FEED, Duration.ofSeconds(60), 1, OBSERVER, System::nanoTime);

    assertThat(access.holderOf(key.keyId())).isPresent();

    KeyUses uses = (KeyUses) access.recordUses();
    uses.close();
    assertThat(KEYS.find(key.keyId()).orElseThrow().lastUsedAt()).isPresent();
  }

  @Test
  void aKeyThatIsUsedAgainAfterItsUseWasWrittenIsWrittenAgain() {
    StoredKey key = made(Scope.IDS_READ);
    Access access =
        new Access(DATABASE, FEED, Duration.ofSeconds(60), 1, OBSERVER, System::nanoTime);
    try (KeyUses uses = (KeyUses) access.recordUses()) {
      for (int minute = 0; minute < 3; minute++) {
        assertThat(access.holderOf(key.keyId())).isPresent();
        assertThat(access.holderOf(key.keyId())).isPresent();
        uses.flush();
        assertThat(KEYS.find(key.keyId()).orElseThrow().lastUsedAt()).isPresent();
        FRESH.sql().execute("delete from coatcheck.api_key_use");
      }
      uses.flush();
      assertThat(KEYS.find(key.keyId()).orElseThrow().lastUsedAt()).as("not used").isEmpty();
    }
  }

  @Test
  void aUseThatCannotBeWrittenIsWrittenTheNextTime() {
    StoredKey key = made(Scope.IDS_READ);
    Access access =
        new Access(DATABASE, FEED, Duration.ofSeconds(60), 1, OBSERVER, System::nanoTime);
    TestSql sql = FRESH.sql();
    try (KeyUses uses = (KeyUses) access.recordUses()) {
      assertThat(access.holderOf(key.keyId())).isPresent();
      sql.execute("alter table coatcheck.api_key_use rename to hidden");
      uses.flush();
      sql.execute("alter table coatcheck.hidden rename to api_key_use");

      uses.flush();

      assertThat(KEYS.find(key.keyId()).orElseThrow().lastUsedAt()).isPresent();
    }
  }

  private static void insert(List<ApiKey> keys) {
    int _ =
        DATABASE.write(
            "many keys",
            sql ->
                sql.execute(
                    "insert into coatcheck.api_key (key_id, secret_hash, name, principal, scopes)"
                        + " select key_id, decode(hash, 'hex'), 'many', 'many', '{ids:read}'"
                        + " from unnest(?::text[], ?::text[]) as given (key_id, hash)",
                    keys.stream().map(ApiKey::id).toArray(String[]::new),
                    keys.stream()
                        .map(key -> HexFormat.of().formatHex(key.hash().bytes()))
                        .toArray(String[]::new)));
  }

  private static void allowed(Access access, ApiKey key) {
    assertThat(
            access.decide(new Credential.Key(key), Scope.IDS_READ, InetAddress::getLoopbackAddress))
        .isInstanceOf(AccessDecision.Granted.class);
  }

  private static boolean isAllowedFromMemory(Access access, ApiKey key) {
    return new NonBlockingAttempt<>(
                () ->
                    access.decide(
                        new Credential.Key(key), Scope.IDS_READ, InetAddress::getLoopbackAddress))
            .run()
        instanceof NonBlockingAttempt.Outcome.Done<AccessDecision>(AccessDecision.Granted _);
  }

  private static Rights expiring(Duration in) {
    return Rights.of(Set.of(Scope.IDS_READ)).expiringAt(Optional.of(NOW.plus(in)));
  }

  private static StoredKey made(Scope... scopes) {
    return made("test", Optional.empty(), scopes);
  }

  private static StoredKey made(Rights rights) {
    return made(KEYS.create(new NewKey("test", Optional.empty(), rights), Actor.operator()));
  }

  private static StoredKey made(String name, Optional<String> principal, Scope... scopes) {
    return made(
        KEYS.create(new NewKey(name, principal, Rights.of(Set.of(scopes))), Actor.operator()));
  }

  private static StoredKey made(KeyOutcome outcome) {
    return ((KeyOutcome.Made) outcome).stored();
  }

  private static KeyOutcome create(String name, Optional<String> principal, Actor actor) {
    return KEYS.create(new NewKey(name, principal, Rights.of(Set.of(Scope.IDS_READ))), actor);
  }

  private static String principal(KeyOutcome outcome) {
    return made(outcome).principal();
  }

  private static StoredKey stored(StoredKey key) {
    return KEYS.find(key.keyId()).orElseThrow().key();
  }

  private static KeyOutcome rotate(StoredKey key, Duration overlap, Actor actor) {
    return KEYS.rotate(key.keyId(), new ApiKeys.Rotation(overlap, Optional.empty()), actor);
  }

  private static KeyOutcome revoke(StoredKey key, boolean keepsSuccessors) {
    return KEYS.revoke(key.keyId(), keepsSuccessors, Actor.operator());
  }

  private static Actor by(StoredKey key) {
    return new Actor(key.principal(), Optional.of(key.keyId()), Optional.empty(), Optional.empty());
  }
}
