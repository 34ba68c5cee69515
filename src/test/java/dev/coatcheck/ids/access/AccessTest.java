package dev.coatcheck.ids.access;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.coatcheck.cluster.audit.Actor;
import dev.coatcheck.cluster.change.ChangeFeed;
import dev.coatcheck.cluster.lease.FaultProxy;
import dev.coatcheck.core.attempt.NonBlockingAttempt;
import dev.coatcheck.core.id.RandomSource;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.postgres.connection.DatabaseSettings;
import dev.coatcheck.postgres.connection.Deadline;
import dev.coatcheck.postgres.sql.Database;
import dev.coatcheck.postgres.sql.DatabaseUnavailable;
import dev.coatcheck.postgres.sql.TestDatabase;
import dev.coatcheck.postgres.sql.TestSql;
import java.io.IOException;
import java.net.InetAddress;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;

class AccessTest {
  private static final Observer OBSERVER = new Observer();
  private static final TestDatabase SERVED = TestDatabase.fresh();
  private static final DatabaseSettings SETTINGS = SERVED.settings(4);
  private static final Database DATABASE = Database.open(SETTINGS, "test", OBSERVER);
  private static final ChangeFeed FEED =
      ChangeFeed.open(SETTINGS, OBSERVER, System::nanoTime, System::currentTimeMillis);
  private static final AtomicLong AHEAD_NANOS = new AtomicLong();
  private static final Access ACCESS = access(DATABASE);
  private static final ApiKeys KEYS =
      new ApiKeys(DATABASE, ACCESS::forget, Optional.empty(), new RandomSource());

  @AfterAll
  static void close() {
    FEED.close();
    DATABASE.close();
  }

  @Test
  void aKeyMayWhatItsScopesSay() {
    String reader = issue(Set.of(Scope.IDS_READ), Optional.empty());
    String everything = issue(Set.of(Scope.ALL), Optional.empty());

    assertThat(decide(reader, Scope.IDS_READ)).isInstanceOf(AccessDecision.Granted.class);
    assertThat(decide(reader, Scope.IDS_WRITE))
        .isEqualTo(new AccessDecision.Forbidden(Scope.IDS_WRITE));
    assertThat(decide(everything, Scope.TYPES_WRITE)).isInstanceOf(AccessDecision.Granted.class);
  }

  @Test
  void aKeyWithAnotherSecretIsRefused() {
    ApiKey real = TestKeys.create(KEYS, "real", Rights.of(Set.of(Scope.ALL)));
    ApiKey other = ApiKey.generate(new RandomSource());
    // The other's secret under the real one's ID, with a check that fits.
    String forged =
        ApiKeyTest.withCheck("ccg_live_" + real.id() + other.secretText().substring(21, 54));

    assertThat(ApiKey.parse(forged)).isPresent();
    assertThat(decide(forged, Scope.IDS_READ)).isInstanceOf(AccessDecision.Unauthenticated.class);
  }

  @Test
  void anExpiredKeyIsRefused() {
    String key = issue(Set.of(Scope.ALL), Optional.of(Duration.ofDays(1)));
    assertThat(decide(key, Scope.IDS_READ)).isInstanceOf(AccessDecision.Granted.class);

    AHEAD_NANOS.addAndGet(Duration.ofDays(1).toNanos());

    assertThat(decide(key, Scope.IDS_READ)).isInstanceOf(AccessDecision.Unauthenticated.class);
  }

  @Test
  void aKeyMayExpireLaterThanTheClockOfTheProcessCanCount() {
    ApiKey lasting =
        TestKeys.create(
            KEYS,
            "lasting",
            Rights.of(Set.of(Scope.ALL))
                .expiringAt(Optional.of(Instant.parse("9999-12-31T23:59:59Z"))));

    assertThat(decide(lasting.secretText(), Scope.IDS_READ))
        .isInstanceOf(AccessDecision.Granted.class);
  }

  /** Written by hand: the gateway refuses an expiry that has passed. */
  @Test
  void aKeyThatExpiredTwoThousandYearsAgoIsRefused() {
    ApiKey ended = TestKeys.create(KEYS, "ended", Rights.of(Set.of(Scope.ALL)));
    SERVED
        .sql()
        .execute(
            "update coatcheck.api_key set expires_at = '0001-01-01Z' where key_id = '%s'"
                .formatted(ended.id()));

    assertThat(decide(ended.secretText(), Scope.IDS_READ))
        .isInstanceOf(AccessDecision.Unauthenticated.class);
  }

  /** Who holds the key is in the answer: its rotations share a quota and a principal. */
  @Test
  void aGrantedCallerIsTheHolderOfTheKey() {
    Rights rights =
        new Rights(
            Set.of(Scope.IDS_READ, Scope.AUDIT_READ),
            Optional.of(Set.of()),
            Optional.of(Set.of(AddressRange.parse("127.0.0.0/8").orElseThrow())),
            Optional.of(new RateLimit(7, 60)),
            Optional.of(3),
            Optional.of(Instant.now().plus(Duration.ofDays(1))));
    ApiKey first = TestKeys.create(KEYS, "first", rights);
    ApiKey second =
        ((KeyOutcome.Made)
                KEYS.rotate(
                    first.id(),
                    new ApiKeys.Rotation(Duration.ofHours(1), Optional.empty()),
                    Actor.operator()))
            .key();

    StoredKey stored = KEYS.find(second.id()).orElseThrow().key();
    assertThat(decide(second.secretText(), Scope.IDS_READ))
        .isEqualTo(
            new AccessDecision.Granted(
                new Caller(second.id(), first.id(), stored.principal(), stored.rights())));
  }

  /** The clocks of gateways may differ by minutes. */
  @Test
  void aRotationEndsTheOldKeyByTheClockOfPostgres() {
    ApiKey old = TestKeys.create(KEYS, "rotated", Rights.of(Set.of(Scope.ALL)));
    String key = old.secretText();
    assertThat(decide(key, Scope.IDS_READ)).isInstanceOf(AccessDecision.Granted.class);

    Instant before = postgresNow();
    KEYS.rotate(old.id(), new ApiKeys.Rotation(Duration.ZERO, Optional.empty()), Actor.operator());

    assertThat(decide(key, Scope.IDS_READ)).isInstanceOf(AccessDecision.Unauthenticated.class);
    ApiKeys.Listed listed = KEYS.find(old.id()).orElseThrow();
    assertThat(listed.status()).isEqualTo(StoredKey.Status.EXPIRED);
    assertThat(listed.key().rights().expiresAt().orElseThrow()).isBetween(before, postgresNow());
  }

  private static Instant postgresNow() {
    return DATABASE.read(
        "now", sql -> sql.fetchSingle("select clock_timestamp()").get(0, Instant.class));
  }

  @Test
  void aRevokedKeyIsRefused() {
    ApiKey ended = TestKeys.create(KEYS, "ended", Rights.of(Set.of(Scope.ALL)));
    String key = ended.secretText();
    assertThat(decide(key, Scope.IDS_READ)).isInstanceOf(AccessDecision.Granted.class);

    assertThat(KEYS.revoke(ended.id(), false, Actor.operator()))
        .isInstanceOf(KeyOutcome.Revoked.class);

    assertThat(decide(key, Scope.IDS_READ)).isInstanceOf(AccessDecision.Unauthenticated.class);
  }

  /** It hears of them by the feed only. The first answer is read, and later ones are cached. */
  @Test
  void whatAnotherInstanceChangesOfAKeyCountsHere() {
    ApiKeys elsewhere = new ApiKeys(DATABASE, _ -> {}, Optional.empty(), new RandomSource());
    Set<Scope> both = Set.of(Scope.IDS_READ, Scope.IDS_WRITE);
    ApiKey changed = TestKeys.create(KEYS, "changed", Rights.of(both));
    ApiKey ended = TestKeys.create(KEYS, "ended", Rights.of(both));
    for (ApiKey key : List.of(changed, ended)) {
      assertThat(decide(key.secretText(), Scope.IDS_WRITE))
          .isInstanceOf(AccessDecision.Granted.class);
    }

    KeyOutcome _ =
        elsewhere.patch(
            changed.id(),
            _ -> new ApiKeys.Patch("changed", Rights.of(Set.of(Scope.IDS_READ))),
            OptionalInt.empty(),
            Actor.operator());
    KeyOutcome _ = elsewhere.revoke(ended.id(), false, Actor.operator());

    Supplier<AccessDecision> toChanged = () -> decide(changed.secretText(), Scope.IDS_WRITE);
    Supplier<AccessDecision> toEnded = () -> decide(ended.secretText(), Scope.IDS_WRITE);
    await().until(() -> toChanged.get() instanceof AccessDecision.Forbidden);
    assertThat(toChanged.get()).isInstanceOf(AccessDecision.Forbidden.class);
    await().until(() -> toEnded.get() instanceof AccessDecision.Unauthenticated);
    assertThat(toEnded.get()).isInstanceOf(AccessDecision.Unauthenticated.class);
  }

  @Test
  void inAnOutageACachedKeyCountsForAsLongAsWasSaid() throws IOException {
    AtomicLong ahead = new AtomicLong();
    FaultProxy proxy = new FaultProxy(SERVED.port());
    Database database = behind(proxy);
    LongSupplier nanoTime = () -> System.nanoTime() + ahead.get();
    ChangeFeed feed =
        ChangeFeed.open(SETTINGS, OBSERVER, nanoTime, () -> nanoTime.getAsLong() / 1_000_000);
    Access stale = access(database, feed, Duration.ofSeconds(60));
    Access strict = access(database, feed, Duration.ZERO);
    Credential key = credential("Bearer " + issue(Set.of(Scope.ALL), Optional.empty()));
    assertThat(stale.decide(key, Scope.IDS_READ, InetAddress::getLoopbackAddress))
        .isInstanceOf(AccessDecision.Granted.class);
    assertThat(strict.decide(key, Scope.IDS_READ, InetAddress::getLoopbackAddress))
        .isInstanceOf(AccessDecision.Granted.class);

    feed.close();
    proxy.close();
    ahead.addAndGet(Duration.ofSeconds(5).toNanos());

    assertThat(
            new NonBlockingAttempt<>(
                    () -> stale.decide(key, Scope.IDS_READ, InetAddress::getLoopbackAddress))
                .run())
        .isInstanceOf(NonBlockingAttempt.Outcome.Left.class);
    assertThat(stale.decide(key, Scope.IDS_READ, InetAddress::getLoopbackAddress))
        .isInstanceOf(AccessDecision.Granted.class);
    assertThatThrownBy(() -> strict.decide(key, Scope.IDS_READ, InetAddress::getLoopbackAddress))
        .isInstanceOf(DatabaseUnavailable.class);
    ahead.addAndGet(Duration.ofSeconds(60).toNanos());
    assertThatThrownBy(() -> stale.decide(key, Scope.IDS_READ, InetAddress::getLoopbackAddress))
        .isInstanceOf(DatabaseUnavailable.class);
    database.close();
  }

  /** Or anybody could hold the permits of those who wait without a thread. */
  @Test
  void aCallerWhoseKeyHasToBeReadGoesToTheRoutes() {
    String key = issue(Set.of(Scope.ALL), Optional.empty());

    assertThat(new NonBlockingAttempt<>(() -> decide(ACCESS, key)).run())
        .isInstanceOf(NonBlockingAttempt.Outcome.Left.class);
  }

  /** Many callers come back after a pause, and their keys are too old to be served from memory. */
  @Test
  void keysThatAreAskedForAtTheSameTimeShareAStatement() throws Exception {
    List<String> keys =
        IntStream.range(0, 20).mapToObj(_ -> issue(Set.of(Scope.ALL), Optional.empty())).toList();
    List<String> asked = new ArrayList<>(keys);
    asked.addAll(keys); // each by two requests
    asked.add(ApiKey.generate(new RandomSource()).secretText());
    Queue<Class<?>> decisions = new ConcurrentLinkedQueue<>();
    TestSql sql = SERVED.sql();
    sql.execute("create extension if not exists pg_stat_statements");

    try (FaultProxy proxy = new FaultProxy(SERVED.port());
        Database database = behind(proxy)) {
      Access access = access(database);
      assertThat(decide(access, issue(Set.of(Scope.ALL), Optional.empty())))
          .isInstanceOf(AccessDecision.Granted.class);
      long before = reads(sql);
      proxy.freeze(true);
      List<Thread> callers =
          asked.stream()
              .map(
                  key ->
                      Thread.ofPlatform()
                          .start(
                              () ->
                                  Deadline.after(Duration.ofSeconds(60))
                                      .run(() -> decisions.add(decide(access, key).getClass()))))
              .toList();
      // The first reads its answer, and the others wait for it.
      await().until(() -> callers.stream().filter(AccessTest::waits).count() >= asked.size() - 1);
      proxy.freeze(false);
      for (Thread caller : callers) {
        caller.join();
      }

      assertThat(reads(sql) - before)
          .as("of the first caller, and of those that came after it")
          .isBetween(2L, 5L);
    }
    assertThat(decisions)
        .hasSize(asked.size())
        .containsOnlyOnce(AccessDecision.Unauthenticated.class)
        .contains(AccessDecision.Granted.class);
  }

  @Test
  void keysInUseAreReadAgainByOneStatementBeforeTheyAreTooOld() {
    List<String> keys =
        IntStream.range(0, 3).mapToObj(_ -> issue(Set.of(Scope.ALL), Optional.empty())).toList();
    AtomicLong ahead = new AtomicLong();
    LongSupplier nanoTime = () -> System.nanoTime() + ahead.get();
    TestSql sql = SERVED.sql();
    sql.execute("create extension if not exists pg_stat_statements");

    try (ChangeFeed feed =
        ChangeFeed.open(SETTINGS, OBSERVER, nanoTime, () -> nanoTime.getAsLong() / 1_000_000)) {
      Access access = access(DATABASE, feed, Duration.ZERO);
      keys.forEach(key -> decide(access, key));
      long before = reads(sql);
      ahead.addAndGet(Duration.ofMillis(25_500).toNanos());
      await().until(() -> keys.stream().allMatch(key -> isInMemory(access, key)));
      await().until(() -> reads(sql) > before);
      ahead.addAndGet(Duration.ofSeconds(6).toNanos());

      await()
          .alias("31 s after the first reading")
          .until(() -> keys.stream().allMatch(key -> isInMemory(access, key)));
      assertThat(reads(sql) - before).as("not one for each key").isLessThan(3);
    }
  }

  private static boolean isInMemory(Access access, String key) {
    return new NonBlockingAttempt<>(() -> decide(access, key)).run()
        instanceof NonBlockingAttempt.Outcome.Done(AccessDecision.Granted _);
  }

  private static boolean waits(Thread thread) {
    return thread.getState() == Thread.State.WAITING
        || thread.getState() == Thread.State.TIMED_WAITING;
  }

  private static long reads(TestSql sql) {
    return sql.number(
        """
        select coalesce(sum(calls), 0) from pg_stat_statements
        where dbid = (select oid from pg_database where datname = current_database())
          and query like '%wanted (asked)%'\
        """);
  }

  @Test
  void junkIsRefusedWithoutTheDatabase() {
    Database gone = Database.open(SETTINGS, "gone", OBSERVER);
    gone.close();
    Access blind = access(gone);
    String key = ApiKey.generate(new RandomSource()).secretText();
    String typo = key.substring(0, 30) + (key.charAt(30) == 'a' ? 'b' : 'a') + key.substring(31);

    for (String header :
        new String[] {"", "Basic abc", "Bearer", "Bearer ", "Bearer x", "Bearer " + typo}) {
      assertThat(blind.decide(credential(header), Scope.IDS_READ, InetAddress::getLoopbackAddress))
          .isInstanceOf(AccessDecision.Unauthenticated.class);
      assertThat(
              new NonBlockingAttempt<>(
                      () ->
                          blind.decide(
                              credential(header), Scope.IDS_READ, InetAddress::getLoopbackAddress))
                  .run())
          .as("a refusal is logged, which can take long")
          .isInstanceOf(NonBlockingAttempt.Outcome.Left.class);
    }
    assertThat(blind.decide(new Credential.None(), Scope.IDS_READ, InetAddress::getLoopbackAddress))
        .isInstanceOf(AccessDecision.Unauthenticated.class);
  }

  @Test
  void theSecretIsNowhereInTheDatabase() {
    String key = issue(Set.of(Scope.ALL), Optional.empty());
    String rows =
        DATABASE.read(
            "all", sql -> sql.fetch("select api_key::text from coatcheck.api_key").formatCSV());

    assertThat(rows).contains(key.substring(9, 21)).doesNotContain(key.substring(22, 54));
  }

  private static String issue(Set<Scope> scopes, Optional<Duration> validFor) {
    Rights rights = Rights.of(scopes).expiringAt(validFor.map(Instant.now()::plus));
    return TestKeys.create(KEYS, "test", rights).secretText();
  }

  private static AccessDecision decide(Access access, String key) {
    return access.decide(
        credential("Bearer " + key), Scope.IDS_READ, InetAddress::getLoopbackAddress);
  }

  private static AccessDecision decide(String key, Scope needed) {
    return ACCESS.decide(credential("Bearer " + key), needed, InetAddress::getLoopbackAddress);
  }

  private static Credential credential(String authorization) {
    return Credential.of(Optional.of(authorization));
  }

  private static Database behind(FaultProxy proxy) {
    return Database.open(SERVED.behind(proxy.port()).settings(2), "test", OBSERVER);
  }

  private static Access access(Database database) {
    return access(database, FEED, Duration.ofSeconds(60));
  }

  private static Access access(Database database, ChangeFeed feed, Duration staleMax) {
    return new Access(
        database, feed, staleMax, 1, OBSERVER, () -> System.nanoTime() + AHEAD_NANOS.get());
  }
}
