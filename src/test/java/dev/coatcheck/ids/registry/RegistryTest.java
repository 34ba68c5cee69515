package dev.coatcheck.ids.registry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.coatcheck.MachineDelay;
import dev.coatcheck.cluster.audit.Actor;
import dev.coatcheck.cluster.change.ChangeFeed;
import dev.coatcheck.core.id.Prefix;
import dev.coatcheck.core.id.RandomSource;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.core.seal.SealKeys;
import dev.coatcheck.postgres.connection.DatabaseSettings;
import dev.coatcheck.postgres.connection.Deadline;
import dev.coatcheck.postgres.sql.Database;
import dev.coatcheck.postgres.sql.DatabaseUnavailable;
import dev.coatcheck.postgres.sql.TestDatabase;
import dev.coatcheck.postgres.sql.TestSession;
import dev.coatcheck.postgres.sql.TestSql;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntFunction;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;

class RegistryTest {
  private static final Observer OBSERVER = new Observer();

  /** For a lock that the test gives up when the next caller waits for it. */
  private static final Duration LONG = Duration.ofMinutes(1);

  private static final DatabaseSettings SETTINGS = TestDatabase.fresh().settings(8);
  private static final Database DATABASE = Database.open(SETTINGS, "test", OBSERVER);
  private static final ChangeFeed FEED =
      ChangeFeed.open(SETTINGS, OBSERVER, System::nanoTime, System::currentTimeMillis);
  private static final Registry HERE = registry(FEED, System::nanoTime);
  private static final Registry THERE = registry(FEED, System::nanoTime);

  @AfterAll
  static void close() {
    HERE.close();
    THERE.close();
    FEED.close();
    DATABASE.close();
  }

  /** As many types as before, with the same sum of versions, are not always the same types. */
  @Test
  void aTypeCreatedAfterAnotherWasDeletedByHandIsKnownAtOnce() {
    TestDatabase own = TestDatabase.fresh();
    try (Database database = Database.open(own.settings(2), "own", OBSERVER);
        Registry registry = registry(database, FEED, System::nanoTime)) {
      put(registry, TestType.of("gone", "gone"));
      own.sql().execute("delete from coatcheck.type");
      put(registry, TestType.of("next", "next"));

      assertThat(registry.all()).extracting(Type::name).containsExactly("next");
    }
  }

  @Test
  void aTypeChangedAfterAnotherWasDeletedByHandIsKnownAtOnce() {
    TestDatabase own = TestDatabase.fresh();
    try (Database database = Database.open(own.settings(2), "own", OBSERVER);
        Registry registry = registry(database, FEED, System::nanoTime)) {
      put(registry, TestType.of("gone", "gone"));
      put(registry, TestType.of("kept", "kept"));
      own.sql().execute("delete from coatcheck.type where name = 'gone'");
      put(registry, TestType.of("kept", "kept").and("{\"on_outage\":\"refuse\"}"));

      assertThat(registry.all()).extracting(Type::version).containsExactly(2);
    }
  }

  /** The sum of the versions is the same as before. */
  @Test
  void aTypeChangedAfterAFailoverLostAnotherChangeIsKnown() {
    AtomicLong now = new AtomicLong();
    TestDatabase own = TestDatabase.fresh();
    try (Database database = Database.open(own.settings(2), "own", OBSERVER);
        Registry registry = registry(database, FEED, now::get)) {
      for (TestType type :
          List.of(
              TestType.of("lost", "lost"),
              TestType.of("lost", "lost").and("{\"on_outage\":\"refuse\"}"),
              TestType.of("next", "next"))) {
        put(registry, type);
      }
      own.sql()
          .execute(
              "update coatcheck.type set version = 1 where name = 'lost'",
              "update coatcheck.type set version = 2, updated_at = now() where name = 'next'");

      now.addAndGet(Duration.ofSeconds(1).toNanos());
      assertThat(registry.named("nobody")).isEmpty();

      assertThat(registry.all()).extracting(Type::version).containsExactly(1, 2);
    }
  }

  /** As after a time in which the process stood still. */
  @Test
  void aTypeIsReadAgainWhereNoFeedVouchesForIt() {
    TestType type = TestType.of("stood", "std");
    put(HERE, type);
    try (Registry behind = registry(ChangeFeed.none(), System::nanoTime)) {
      Type before = behind.named("stood").orElseThrow();
      put(HERE, type.with("retired", true));

      assertThat(behind.named("stood")).contains(before);
      assertThat(behind.current(before).isRetired()).isTrue();
    }
  }

  /** As while another session changes the table of types. */
  @Test
  void aChangeThatIsKnownAndCannotBeReadIsNotPassedOver() {
    TestSql sql = new TestSql(SETTINGS.url(), SETTINGS.user(), SETTINGS.password());
    boolean wasHeld = false;
    for (int round = 0; round < 100 && !wasHeld; round++) {
      TestType type = TestType.of("held" + round, "hld" + round);
      put(HERE, type);
      Type before =
          await().until(() -> THERE.named(type.name()), Optional::isPresent).orElseThrow();
      put(HERE, type.with("retired", true));
      try (TestSession _ = sql.begin("lock table coatcheck.type in access exclusive mode")) {
        wasHeld = await().until(() -> heldOrRead(before), Optional::isPresent).orElseThrow();
        assertThat(THERE.named(type.name())).isPresent(); // for resolves, which need none of it
      }
      await().until(() -> THERE.current(before).isRetired());
    }
    assertThat(wasHeld).isTrue();
  }

  /** So that an outage doesn't make each caller wait. */
  @Test
  void inAnOutageATypeIsAsItWasAndPostgresIsAskedTwiceASecond() {
    AtomicLong now = new AtomicLong();
    TestDatabase own = TestDatabase.fresh();
    try (Database gone = Database.open(own.settings(2), "gone", OBSERVER);
        Registry behind = registry(gone, ChangeFeed.none(), now::get)) {
      put(behind, TestType.of("away", "awy"));
      Type before = behind.named("away").orElseThrow();
      own.setReachable(false);
      assertThat(behind.current(before)).isEqualTo(before);
      assertThatThrownBy(() -> behind.currentForWrite(before))
          .as("by rows, which wait for Postgres anyway")
          .isInstanceOf(DatabaseUnavailable.class);
      own.setReachable(true);
      own.sql().execute("update coatcheck.type set version = version + 1, retired_at = now()");

      await().until(() -> TestDatabase.isReachable(gone));

      now.addAndGet(Duration.ofMillis(499).toNanos());
      assertThat(behind.current(before)).isEqualTo(before);

      now.addAndGet(Duration.ofMillis(1).toNanos());
      await()
          .until(
              () -> {
                boolean isRead = behind.current(before).isRetired();
                now.addAndGet(Duration.ofSeconds(1).toNanos()); // if the machine was too busy
                return isRead;
              });
    }
  }

  /** True once the change is known and can't be read; false if it was read before. */
  private static Optional<Boolean> heldOrRead(Type before) {
    try {
      return THERE.current(before).isRetired() ? Optional.of(false) : Optional.empty();
    } catch (DatabaseUnavailable held) {
      return Optional.of(true);
    }
  }

  /** Whether there is such a type can't be known, and the caller is told so in time. */
  @Test
  void inAnOutageNoTypeIsUnknown() throws Exception {
    AtomicLong now = new AtomicLong();
    TestDatabase own = TestDatabase.fresh();
    try (Database gone = Database.open(own.settings(2), "gone", OBSERVER);
        Registry registry = registry(gone, FEED, now::get);
        MachineDelay delay = MachineDelay.measure();
        ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      now.addAndGet(Duration.ofSeconds(1).toNanos());
      assertThat(registry.named("nobody")).isEmpty();
      own.setReachable(false);
      now.addAndGet(Duration.ofSeconds(1).toNanos());

      List<Future<Duration>> asked = new ArrayList<>();
      for (int i = 0; i < 50; i++) {
        asked.add(threads.submit(() -> refused(registry)));
      }
      for (Future<Duration> took : asked) {
        delay.requireWithin(Duration.ofSeconds(1), took.get());
      }
      refused(registry);

      own.setReachable(true);
      await().until(() -> TestDatabase.isReachable(gone));
      assertThat(registry.named("nobody")).isEmpty();
    }
  }

  private static Duration refused(Registry registry) {
    long from = System.nanoTime();
    assertThatThrownBy(() -> Deadline.ofAnswer().call(() -> registry.named("nobody")))
        .isInstanceOf(DatabaseUnavailable.class);
    return Duration.ofNanos(System.nanoTime() - from);
  }

  @Test
  void aTypeIsCreatedOnceAndThenUpdated() {
    Type created = ((PutOutcome.Created) put(HERE, TestType.of("order", "ord"))).type();
    Type same = ((PutOutcome.Updated) put(HERE, TestType.of("order", "ord"))).type();
    Type changed =
        ((PutOutcome.Updated)
                put(TestType.of("order", "ord").redirect("https://a.example/{id}"), 1))
            .type();

    assertThat(same.version()).isEqualTo(created.version()).isEqualTo(1);
    assertThat(changed.version()).isEqualTo(2);
    assertThat(changed.redirect()).isPresent();
    assertThat(changed.salt().bytes()).isEqualTo(created.salt().bytes());
  }

  /** Somebody takes the table right after the commit, so that it can't be read again in time. */
  @Test
  void whatWasPutIsAcknowledgedThoughItCannotBeReadAgain() throws Exception {
    TestSql sql = new TestSql(SETTINGS.url(), SETTINGS.user(), SETTINGS.password());
    try (Registry alone = registry(ChangeFeed.none(), System::nanoTime);
        ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
        TestSession first = sql.begin("lock table coatcheck.type in row exclusive mode");
        TestSession last = sql.session()) {
      Future<PutOutcome> put =
          threads.submit(
              () -> Deadline.after(LONG).call(() -> put(alone, TestType.of("held", "held"))));
      await().until(() -> isWaiting(sql, "ShareRowExclusiveLock"));
      Future<?> taken =
          threads.submit(() -> last.begin("lock table coatcheck.type in access exclusive mode"));
      await().until(() -> isWaiting(sql, "AccessExclusiveLock"));
      first.commit();
      taken.get();

      assertThat(put.get()).isInstanceOf(PutOutcome.Created.class);
      assertThat(alone.all()).extracting(Type::name).doesNotContain("held");

      last.commit();
      await().until(() -> alone.all().stream().anyMatch(type -> type.name().equals("held")));
    }
  }

  /** The other registries may wait to read the table meanwhile. */
  private static boolean isWaiting(TestSql sql, String mode) {
    return sql.number(
            """
            select count(*) from pg_locks where not granted and mode = '%s'
              and database = (select oid from pg_database where datname = current_database())
              and relation = 'coatcheck.type'::regclass
            """
                .formatted(mode))
        == 1;
  }

  @Test
  void whatNeverChangesIsRefused() {
    put(HERE, TestType.of("refund", "re"));

    assertRefused(put(HERE, TestType.of("refund", "rf")), "immutable_field", "prefix");
    assertRefused(put(HERE, TestType.of("refund", "re").uuids()), "immutable_field", "key");
    assertRefused(put(HERE, TestType.of("other", "re")), "prefix_taken", "prefix");
    assertThat(HERE.named("other")).isEmpty();
  }

  @Test
  void aVersionThatWasNotSeenIsRefused() {
    put(HERE, TestType.of("payout", "po"));

    assertThat(put(TestType.of("payout", "po").redirect("https://a.example/"), 3))
        .isEqualTo(new PutOutcome.VersionDiffers());
    assertThat(put(TestType.of("absent", "abs"), 1)).isEqualTo(new PutOutcome.VersionDiffers());

    put(TestType.of("payout", "po").redirect("https://b.example/"), 1);
    assertThat(put(TestType.of("payout", "po").redirect("https://a.example/"), 1))
        .as("what another caller changed meanwhile stays")
        .isEqualTo(new PutOutcome.VersionDiffers());
  }

  @Test
  void racersForOnePrefixHaveOneWinner() throws Exception {
    List<PutOutcome> outcomes = race(racer -> TestType.of("racer_" + racer, "race"));

    assertThat(outcomes).filteredOn(PutOutcome.Created.class::isInstance).hasSize(1);
    assertThat(outcomes).filteredOn(PutOutcome.Refused.class::isInstance).hasSize(11);
  }

  @Test
  void racersForOneNameAgree() throws Exception {
    List<PutOutcome> outcomes = race(_ -> TestType.of("twin", "tw"));

    assertThat(outcomes).filteredOn(PutOutcome.Created.class::isInstance).hasSize(1);
    assertThat(outcomes).filteredOn(PutOutcome.Updated.class::isInstance).hasSize(11);
  }

  private static List<PutOutcome> race(IntFunction<TestType> type) throws Exception {
    List<Callable<PutOutcome>> racers = new ArrayList<>();
    for (int i = 0; i < 12; i++) {
      Registry registry = i % 2 == 0 ? HERE : THERE;
      TestType its = type.apply(i);
      racers.add(() -> put(registry, its));
    }
    List<PutOutcome> outcomes = new ArrayList<>();
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (Future<PutOutcome> racer : threads.invokeAll(racers)) {
        outcomes.add(racer.get());
      }
    }
    return outcomes;
  }

  /** The registry that is asked follows no feed, and its time stands still within a round. */
  @Test
  void allWhoAskForAnotherInstancesNewTypeTogetherFindIt() throws Exception {
    AtomicLong nanos = new AtomicLong();
    try (Registry asked = registry(ChangeFeed.none(), nanos::get)) {
      for (int round = 0; round < 20; round++) {
        String name = "asked_" + round;
        put(HERE, TestType.of(name, "ask" + round));
        // As long as an unknown name may have to wait for the one before.
        nanos.addAndGet(Duration.ofMillis(100).toNanos());
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
          List<Future<Boolean>> askers = new ArrayList<>();
          for (int i = 0; i < 16; i++) {
            askers.add(threads.submit(() -> asked.named(name).isPresent()));
          }
          for (Future<Boolean> asker : askers) {
            assertThat(asker.get()).as("round %d", round).isTrue();
          }
        }
      }
    }
  }

  @Test
  void anotherInstancesNewTypeIsFoundAtOnceAndItsChangesSoon() {
    await().until(() -> THERE.named("order_2").isEmpty());
    put(HERE, TestType.of("order_2", "ord2"));

    await().until(() -> THERE.withPrefix(new Prefix("ord2")).isPresent());

    put(HERE, TestType.of("order_2", "ord2").redirect("https://a.example/{id}"));
    await().until(() -> THERE.named("order_2").orElseThrow().redirect().isPresent());
  }

  private static void assertRefused(PutOutcome outcome, String code, String field) {
    assertThat(outcome)
        .isInstanceOfSatisfying(
            PutOutcome.Refused.class,
            refused -> {
              assertThat(refused.code()).isEqualTo(code);
              assertThat(refused.field()).isEqualTo(field);
            });
  }

  private static PutOutcome put(Registry registry, TestType type) {
    return registry.put(type.definition(), PutConditions.NONE, Actor.operator());
  }

  /** On the condition that the type still has the version. */
  private static PutOutcome put(TestType type, int version) {
    return HERE.put(
        type.definition(),
        new PutConditions(OptionalInt.of(version), Optional.empty()),
        Actor.operator());
  }

  private static Registry registry(ChangeFeed feed, LongSupplier nanoTime) {
    return registry(DATABASE, feed, nanoTime);
  }

  private static Registry registry(Database database, ChangeFeed feed, LongSupplier nanoTime) {
    return Registry.open(database, feed, SealKeys.NONE, new RandomSource(), OBSERVER, nanoTime);
  }
}
