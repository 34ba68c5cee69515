package dev.coatcheck.cluster.change;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.coatcheck.Breakage;
import dev.coatcheck.BrokenBy;
import dev.coatcheck.core.attempt.NonBlockingAttempt;
import dev.coatcheck.postgres.sql.DatabaseUnavailable;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

class ChangeFeedTest extends OnAFeed {
  private static final int POLLS_MAX = 20;
  private static final int WRITERS = 4;
  private static final int CHANGES_EACH = 300;

  /** What everybody would write first; the sequence stands for an identity column. */
  private static final String IDENTITY_NUMBERS =
      """
      insert into coatcheck.change (number, kind, subject)
      select nextval('coatcheck.test_identity'), {1}, subject
      from unnest({2}) as changed (subject) where {0} > 0
      """;

  private final ChangeStore store = new ChangeStore(pool);

  @Test
  @BrokenBy("identity-numbers")
  void everyChangeArrivesOnceAndInOrderWhateverTheOrderOfCommits() throws Exception {
    boolean broken = Breakage.current().equals("identity-numbers");
    execute("create sequence if not exists coatcheck.test_identity");
    execute("select setval('coatcheck.test_identity', 1000000)");
    long last = broken ? 1_000_000 : feed.state().position();
    String statement = broken ? IDENTITY_NUMBERS : ChangeTable.APPEND;
    long seed = new Random().nextLong();
    System.out.println("seed " + seed);
    AtomicInteger writing = new AtomicInteger(WRITERS);
    List<String> arrived = new ArrayList<>();
    List<Future<?>> writers = new ArrayList<>();
    try (ExecutorService threads = Executors.newFixedThreadPool(WRITERS)) {
      for (int writer = 0; writer < WRITERS; writer++) {
        String name = writer + "-";
        Random random = new Random(seed + writer);
        writers.add(threads.submit(() -> write(statement, name, random, writing)));
      }
      boolean over = false;
      while (!over) {
        over = writing.get() == 0;
        for (FeedReply.Row change : read(last).changes()) {
          assertThat(change.number()).isGreaterThan(last);
          last = change.number();
          arrived.add(change.subject());
          over = false;
        }
      }
    }
    for (Future<?> writer : writers) {
      writer.get();
    }
    execute("delete from coatcheck.change where number > 1000000");

    assertThat(arrived.size()).isEqualTo(WRITERS * CHANGES_EACH);
    assertThat(Set.copyOf(arrived).size()).isEqualTo(WRITERS * CHANGES_EACH);
  }

  @TestFactory
  Stream<DynamicTest> theTestsFindWhatTheyAreFor() {
    return Breakage.requireRed(this);
  }

  @Test
  void anInstanceThatStartsRemembersTheChangesBeforeItsStart() {
    append("before the start");
    ChangeFeed later = ChangeFeed.unpolled(pool, OBSERVER, nano::get, this::wallMillis);
    later.begin();
    later.poll();

    ChangeFeed.Start start = later.start();
    assertThat(start.known()).isBetween(Duration.ofSeconds(110), Duration.ofSeconds(120));
    assertThat(later.after(start.after(), 100_000).orElseThrow())
        .extracting(Change::subject)
        .last()
        .isEqualTo("before the start");
  }

  @Test
  void whoFollowsIsToldEveryChangeUntilItIsForgotten() {
    long after = feed.state().position();
    append("a", "b");
    feed.poll();
    assertThat(feed.after(after, 100).orElseThrow())
        .extracting(Change::subject)
        .containsExactly("a", "b");
    assertThat(feed.after(after, 1).orElseThrow()).extracting(Change::subject).containsOnly("a");
    assertThat(feed.after(after + 3, 100)).as("ahead of the feed").isEmpty();

    nano.addAndGet(Duration.ofSeconds(121).toNanos());
    feed.poll();
    assertThat(feed.after(after, 100)).as("forgotten").isEmpty();
    assertThat(feed.after(after + 2, 100)).as("nothing is missing").contains(List.of());
  }

  @Test
  void trustEndsWithTheSilenceOfTheFeed() {
    assertThat(feed.isTrusted()).isTrue();

    nano.addAndGet(Duration.ofMillis(1_900).toNanos());
    assertThat(feed.isTrusted()).isTrue();
    nano.addAndGet(1);
    assertThat(feed.isTrusted()).isFalse();

    feed.poll();
    assertThat(feed.isTrusted()).isTrue();
  }

  @Test
  void trustEndsWhereTheMachineWasSuspended() {
    get("revoked", "active");
    append("revoked");

    suspendedMillis.addAndGet(600_000);
    assertThat(feed.isTrusted()).isFalse();
    assertThat(cache.ifTrusted("revoked")).isEmpty();
    assertThat(feed.silent()).as("what clients are told").isEqualTo(Duration.ofMinutes(10));

    feed.poll();
    assertThat(feed.isTrusted()).isTrue();
    assertThat(cache.ifTrusted("revoked")).isEmpty();
  }

  @Test
  void aWallClockThatIsSetBackOrRunsALittleFastChangesNothing() {
    suspendedMillis.addAndGet(-3_600_000);
    assertThat(feed.isTrusted()).isTrue();
    assertThat(feed.silent()).isEqualTo(Duration.ZERO);

    feed.poll();
    suspendedMillis.addAndGet(1_999);
    assertThat(feed.isTrusted()).isTrue();
  }

  @Test
  void whatChangedIsLoadedAgain() {
    assertThat(get("a", "before")).isEqualTo("before");
    assertThat(get("a", "unused")).isEqualTo("before");

    append("a");
    feed.poll();

    assertThat(cache.ifTrusted("a")).isEmpty();
    assertThat(get("a", "after")).isEqualTo("after");
    assertThat(cache.ifTrusted("a")).contains("after");
  }

  @Test
  void aSlowLoadCantPutADeadEntryBack() throws Exception {
    CountDownLatch hasRead = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    AtomicInteger loads = new AtomicInteger();
    try (ExecutorService threads = Executors.newSingleThreadExecutor()) {
      Future<Optional<String>> slow =
          threads.submit(
              () ->
                  get(
                      "slow",
                      MINUTE,
                      () -> {
                        String state = loads.incrementAndGet() == 1 ? "alive" : "dead";
                        hasRead.countDown();
                        await(goOn);
                        return Optional.of(state);
                      }));
      hasRead.await();
      append("slow");
      feed.poll();
      goOn.countDown();
      assertThat(slow.get()).contains("dead");
    }

    assertThat(cache.ifTrusted("slow")).contains("dead");
  }

  /** Values from memory and from loads alike: both may be from before the change. */
  @Test
  void whatChangesWhileOthersAreWaitedForIsLoadedAgain() {
    assertThat(get("held", "alive")).isEqualTo("alive");
    AtomicInteger loads = new AtomicInteger();

    Map<String, String> values =
        cache.getAll(
            List.of("held", "loaded", "other"),
            _ -> MINUTE,
            keys -> {
              String state = loads.incrementAndGet() == 1 ? "alive" : "dead";
              if (state.equals("alive")) {
                append("held", "loaded");
                feed.poll();
              }
              return keys.stream().collect(Collectors.toMap(key -> key, _ -> state));
            });

    assertThat(values)
        .containsOnly(
            Map.entry("held", "dead"), Map.entry("loaded", "dead"), Map.entry("other", "alive"));
    assertThat(loads).hasValue(2);
  }

  /** Also the value that the second load was not for. */
  @Test
  void whatChangesDuringTheSecondLoadIsLoadedAgainToo() {
    AtomicInteger loads = new AtomicInteger();

    Map<String, String> values =
        cache.getAll(
            List.of("slow", "settled"),
            _ -> MINUTE,
            keys -> {
              Map<String, String> states =
                  keys.stream().collect(Collectors.toMap(key -> key, _ -> "alive"));
              switch (loads.incrementAndGet()) {
                case 1 -> append("slow");
                case 2 -> append("slow", "settled");
                default -> states.replaceAll((_, _) -> "dead");
              }
              feed.poll();
              return states;
            });

    assertThat(values).containsOnly(Map.entry("slow", "dead"), Map.entry("settled", "dead"));
    assertThat(loads).hasValue(3);
  }

  @Test
  void whatIsFromBeforeTheSilenceOfTheFeedIsLoadedAgainAfterTheSecondLoadToo() {
    AtomicInteger loads = new AtomicInteger();

    Map<String, String> values =
        cache.getAll(
            List.of("ending", "settled"),
            _ -> Duration.ZERO,
            keys -> {
              String state = loads.incrementAndGet() <= 2 ? "alive" : "dead";
              switch (loads.get()) {
                case 1 -> {
                  append("ending");
                  feed.poll();
                }
                case 2 -> nano.addAndGet(Duration.ofSeconds(5).toNanos());
                default -> {}
              }
              return keys.stream().collect(Collectors.toMap(key -> key, _ -> state));
            });

    assertThat(values).containsOnly(Map.entry("ending", "dead"), Map.entry("settled", "dead"));
  }

  @Test
  void whatChangesDuringEachLoadIsNotServed() {
    assertThatThrownBy(
            () ->
                get(
                    "restless",
                    MINUTE,
                    () -> {
                      append("restless");
                      feed.poll();
                      return Optional.of("alive");
                    }))
        .isInstanceOf(DatabaseUnavailable.class);
  }

  /** It was made here, so it is known before the feed has read it. */
  @Test
  void aLoadThatBeganBeforeAnEndingHereCantPutADeadEntryBack() {
    assertThat(
            get(
                "ended",
                MINUTE,
                () -> {
                  append("ended");
                  cache.forget("ended");
                  return Optional.of("alive");
                }))
        .contains("alive");

    assertThat(cache.ifTrusted("ended")).isEmpty();
    nano.incrementAndGet();
    assertThat(get("ended", "dead")).isEqualTo("dead");
    assertThat(cache.ifTrusted("ended")).contains("dead");
  }

  /** The second attempt comes after the wait, and knows of the change that the load missed. */
  @Test
  void aLoadThatWasNotWaitedForCantPutADeadEntryBackEither() {
    NonBlockingAttempt<Optional<String>> reader =
        new NonBlockingAttempt<>(
            () ->
                get(
                    "slow",
                    MINUTE,
                    () ->
                        Optional.of(
                            NonBlockingAttempt.await(
                                "row", () -> CompletableFuture.completedFuture("alive")))));
    var awaits = (NonBlockingAttempt.Outcome.Awaits<Optional<String>>) reader.run();
    assertThat(awaits.start().get()).isDone();
    append("slow");
    feed.poll();

    assertThat(reader.run())
        .as("would have to load again, which a thread does that may wait")
        .isEqualTo(new NonBlockingAttempt.Outcome.Left<>());
    assertThat(cache.ifTrusted("slow")).isEmpty();
    assertThat(get("slow", "dead")).isEqualTo("dead");
  }

  @Test
  void nothingIsCachedForLongerThanChangesAreRemembered() {
    get("old", "before");
    nano.addAndGet(Duration.ofSeconds(30).toNanos());
    feed.poll();
    assertThat(cache.ifTrusted("old")).contains("before");

    nano.addAndGet(Duration.ofSeconds(1).toNanos());
    feed.poll();
    assertThat(cache.ifTrusted("old")).isEmpty();
  }

  @Test
  void valuesInSteadyUseAreReloadedTogetherBeforeTheyAreTooOld() {
    List<String> keys = IntStream.range(0, 2_500).mapToObj(i -> "many" + i).toList();
    TrustedCache<String, String> many =
        new TrustedCache<>(feed, ChangeKind.ENDING, (key, _) -> List.of(key), keys.size());
    AtomicInteger loads = new AtomicInteger();
    Function<List<String>, Map<String, String>> load =
        asked -> {
          loads.incrementAndGet();
          return asked.stream().collect(Collectors.toMap(key -> key, key -> key + nano.get()));
        };
    keys.forEach(key -> many.get(key, MINUTE, load));
    loads.set(0);

    nano.addAndGet(Duration.ofSeconds(26).toNanos());
    feed.poll();
    keys.forEach(key -> assertThat(many.get(key, MINUTE, load)).isPresent());

    Awaitility.await()
        .untilAsserted(
            () ->
                assertThat(keys)
                    .allSatisfy(key -> assertThat(many.ifTrusted(key)).contains(key + nano.get())));
    // As many as the machine is too slow to gather in one go, and far fewer than values.
    assertThat(loads.get()).isBetween(3, 250);
  }

  @Test
  void whoMissedChangesThatWerePurgedStartsAnew() {
    get("missed", "before");
    get("same", "value");
    append("missed", "others");
    execute("delete from coatcheck.change");

    feed.poll();

    assertThat(cache.ifTrusted("missed")).isEmpty();
    assertThat(feed.isTrusted()).isTrue();
    assertThat(get("missed", "after")).isEqualTo("after");
    assertThat(get("same", "value")).isEqualTo("value");
    append("others");
    feed.poll();
    assertThat(cache.ifTrusted("missed")).contains("after");
    assertThat(cache.ifTrusted("same")).contains("value");
  }

  @Test
  void aFeedThatFellBackIsStartedAnew() {
    append("fallen");
    feed.poll();
    get("fallen", "before");
    execute("update coatcheck.change_head set number = number - 1");
    execute("delete from coatcheck.change");

    feed.poll();

    assertThat(cache.ifTrusted("fallen")).isEmpty();
    assertThat(feed.isTrusted()).isTrue();
  }

  @Test
  void theFirstChangeOnAnotherServerMakesEveryFollowerBeginAnew() {
    append("known");
    feed.poll();
    long after = feed.state().position();
    get("kept", "before");
    execute("update coatcheck.change_head set origin = '1/1'");
    append("elsewhere");
    append("next");

    feed.poll();

    assertThat(feed.state().position()).isGreaterThan(after + 1_000_000);
    assertThat(feed.after(after, 100)).as("clients begin anew too").isEmpty();
    assertThat(cache.ifTrusted("kept")).isEmpty();
    long read = feed.state().position();
    append("one");
    feed.poll();
    assertThat(feed.state().position()).as("no further gap").isEqualTo(read + 1);
  }

  /** On the same server too: changes that came after the dump had the next numbers. */
  @Test
  void theFirstChangeInARestoredDumpMakesEveryFollowerBeginAnew() {
    append("known");
    feed.poll();
    long after = feed.state().position();
    execute("create table coatcheck.restored (like coatcheck.change_head including all)");
    execute("insert into coatcheck.restored select * from coatcheck.change_head");
    execute("drop table coatcheck.change_head");
    execute("alter table coatcheck.restored rename to change_head");
    append("next");

    feed.poll();

    assertThat(feed.state().position()).isGreaterThan(after + 1_000_000);
    assertThat(feed.after(after, 100)).isEmpty();
  }

  /** While a dump is restored. */
  @Test
  void aHeadWithoutItsRowIsAPollThatFails() {
    append("known");
    feed.poll();
    long after = feed.state().position();
    execute("create table coatcheck.kept as select * from coatcheck.change_head");
    execute("delete from coatcheck.change_head");

    feed.poll();

    assertThat(feed.state().position()).isEqualTo(after);
    execute("insert into coatcheck.change_head select * from coatcheck.kept");
    execute("drop table coatcheck.kept");
    append("next");
    feed.poll();
    assertThat(feed.state().position()).isEqualTo(after + 1);
  }

  /** As in a database whose last change was made by an earlier release. */
  @Test
  void noNumberIsSkippedWhereTheServerOfTheLastOneIsNotKnown() {
    append("known");
    feed.poll();
    long after = feed.state().position();
    execute("update coatcheck.change_head set origin = null");

    append("next");
    feed.poll();

    assertThat(feed.state().position()).isEqualTo(after + 1);
  }

  @Test
  void aFloodIsReadInPiecesAndTrustedAtItsEnd() {
    get("4000", "before");
    nano.addAndGet(Duration.ofSeconds(5).toNanos());
    append(IntStream.range(0, 4_500).mapToObj(Integer::toString).toArray(String[]::new));

    feed.poll();
    feed.poll();
    assertThat(feed.isTrusted()).isFalse();
    feed.poll();

    assertThat(feed.isTrusted()).isTrue();
    assertThat(cache.ifTrusted("4000")).isEmpty();
  }

  @Test
  void onlyWhatIsOlderThanAnHourIsPurged() {
    execute("delete from coatcheck.change");
    append("old", "new");
    execute(
        "update coatcheck.change set created_at = now() - interval '61 minutes' where subject ="
            + " 'old'");

    assertThat(store.purge()).isFalse();

    List<String> left =
        database.read(
            "test",
            sql -> sql.fetch("select subject from coatcheck.change").getValues(0, String.class));
    assertThat(left).containsExactly("new");
  }

  /** An autovacuum that finds the table empty tells the planner so, and then changes come. */
  @Test
  void aPurgeDeletesItsShareAlsoWhenTheServerBelievesThatThereIsNothing() {
    execute("delete from coatcheck.change");
    append("gone");
    execute("delete from coatcheck.change");
    execute("analyze coatcheck.change");
    append(IntStream.range(0, 3_000).mapToObj(Integer::toString).toArray(String[]::new));
    execute("update coatcheck.change set created_at = now() - interval '61 minutes'");

    assertThat(store.purge()).isTrue();
    assertThat(store.purge()).isFalse();

    assertThat(
            database.<Integer>read(
                "test", sql -> sql.fetchCount(sql.selectFrom("coatcheck.change"))))
        .as("the last one stays, by which a replica is compared")
        .isOne();
  }

  private static void write(String statement, String name, Random random, AtomicInteger writing) {
    try {
      for (int i = 0; i < CHANGES_EACH; i++) {
        List<String> subjects = List.of(name + i);
        database.write(
            "test",
            sql -> {
              LockSupport.parkNanos(random.nextInt(1_000_000));
              sql.fetch("select count(*) from coatcheck.change");
              ChangeTable.append(sql, statement, ChangeKind.ENDING, subjects);
              LockSupport.parkNanos(random.nextInt(2_000_000));
              return null;
            });
      }
    } finally {
      writing.decrementAndGet();
    }
  }

  /** As a feed does, asks again where a busy machine was too slow for the time-out of a poll. */
  private FeedReply.Read read(long after) {
    String failed = "";
    for (int tries = 0; tries < POLLS_MAX; tries++) {
      switch (store.read(after)) {
        case FeedReply.Read read -> {
          return read;
        }
        case FeedReply.Failed(String reason) -> failed = reason;
      }
    }
    throw new IllegalStateException(failed);
  }

  private static void execute(String statement) {
    database.write("test", sql -> sql.execute(statement));
  }

  @Test
  void aReplyFollowsIfItHasEveryChangeAfterThePosition() {
    assertThat(reply(7, 5, 6, 7).follows(4)).isTrue();
    assertThat(reply(9, 5, 6, 7).follows(4)).as("the rest comes with the next read").isTrue();
    assertThat(reply(4).follows(4)).isTrue();
  }

  @Test
  void aReplyWithAGapDoesNotFollow() {
    assertThat(reply(7, 6, 7).follows(4)).as("the first is missing").isFalse();
    assertThat(reply(7, 5, 7).follows(4)).as("one in the middle is missing").isFalse();
    assertThat(reply(6, 4, 6).follows(4)).as("one is old, one is missing").isFalse();
    assertThat(reply(6).follows(4)).as("all are missing").isFalse();
  }

  @Test
  void aReplyFromBeforeThePositionDoesNotFollow() {
    assertThat(reply(3).follows(4)).as("the head went back").isFalse();
    assertThat(reply(5, 5, 6).follows(4)).as("more changes than the head tells").isFalse();
  }

  private static FeedReply.Read reply(long head, long... numbers) {
    return new FeedReply.Read(
        head,
        LongStream.of(numbers)
            .mapToObj(number -> new FeedReply.Row(number, "ending", "x"))
            .toList(),
        Optional.empty());
  }
}
