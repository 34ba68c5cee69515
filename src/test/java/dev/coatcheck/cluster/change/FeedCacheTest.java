package dev.coatcheck.cluster.change;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.postgres.connection.Deadline;
import dev.coatcheck.postgres.sql.DatabaseUnavailable;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** What a cache on the change feed says while the feed or the database is silent. */
class FeedCacheTest extends OnAFeed {

  @Test
  void staleValuesAreServedNoLongerThanWasSaid() {
    get("stale", "before");
    nano.addAndGet(Duration.ofSeconds(59).toNanos());

    assertThat(get("stale", MINUTE, FeedCacheTest::gone)).contains("before");
    assertThat(refused("stale", Duration.ZERO)).isTrue();
    assertThat(refused("stale", Duration.ofSeconds(58))).isTrue();
    nano.addAndGet(Duration.ofSeconds(2).toNanos());
    assertThat(refused("stale", MINUTE)).isTrue();
  }

  @Test
  void aDatabaseThatAnswersIsAskedWhileTheFeedIsSilent() {
    get("asked", "before");
    nano.addAndGet(Duration.ofSeconds(5).toNanos());

    awaitGet("asked");
  }

  @Test
  void aDatabaseInDoubtIsAskedByFewAndOnceForEachKey() throws Exception {
    nano.addAndGet(Duration.ofSeconds(5).toNanos());
    AtomicInteger asking = new AtomicInteger();
    CountDownLatch goOn = new CountDownLatch(1);
    List<Future<Boolean>> callers = new ArrayList<>();
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int i = 0; i < 200; i++) {
        String key = "doubt" + i % 20;
        callers.add(
            threads.submit(
                () -> {
                  try {
                    get(
                        key,
                        MINUTE,
                        () -> {
                          asking.incrementAndGet();
                          await(goOn);
                          return Optional.of("late");
                        });
                    return true;
                  } catch (DatabaseUnavailable refused) {
                    return false;
                  }
                }));
      }
      for (Future<Boolean> caller : callers) {
        assertThat(caller.get()).isFalse();
      }
      goOn.countDown();
    }
    assertThat(asking).hasValueLessThanOrEqualTo(4);
  }

  @Test
  void aLoadThatIsSharedOutlivesTheDeadlineOfItsFirstCaller() throws Exception {
    nano.addAndGet(Duration.ofSeconds(5).toNanos());
    CountDownLatch hasBegun = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    Supplier<Optional<String>> load =
        () -> {
          hasBegun.countDown();
          await(goOn);
          return Deadline.current().isOver() ? gone() : Optional.of("loaded");
        };
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      Future<Boolean> first =
          threads.submit(
              () -> Deadline.after(Duration.ofMillis(100)).call(() -> refused("shared", load)));
      hasBegun.await();
      Future<Optional<String>> second = threads.submit(() -> get("shared", Duration.ZERO, load));
      assertThat(first.get()).isTrue();
      goOn.countDown();

      assertThat(second.get()).contains("loaded");
    }
  }

  /** A load that hangs: nobody waits for it, and meanwhile nobody begins another one. */
  @Test
  void aValueThatIsAskedForIsRenewedBeforeItIsTooOldAndNobodyWaits() {
    get("hot", "before");
    pass(Duration.ofSeconds(26));
    AtomicInteger loads = new AtomicInteger();
    CountDownLatch hasBegun = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    for (int call = 0; call < 10; call++) {
      assertThat(
              get(
                  "hot",
                  Duration.ZERO,
                  () -> {
                    loads.incrementAndGet();
                    hasBegun.countDown();
                    await(goOn);
                    return Optional.of("after");
                  }))
          .contains("before");
    }
    await(hasBegun);
    assertThat(loads).hasValue(1);
    goOn.countDown();
    Awaitility.await().until(() -> cache.ifTrusted("hot").equals(Optional.of("after")));
    pass(Duration.ofSeconds(6));
    assertThat(cache.ifTrusted("hot")).contains("after");
  }

  /** A change of something that the cache doesn't hold. */
  @Test
  void aValueThatAChangeLeftAsItWasIsLoadedOnceMoreOnly() {
    get("same", "value");
    append("same");
    pass(Duration.ofSeconds(1));
    assertThat(cache.ifTrusted("same")).isEmpty();

    assertThat(get("same", new String("value"))).isEqualTo("value");

    assertThat(cache.ifTrusted("same")).contains("value");
    pass(Duration.ofSeconds(29));
    assertThat(cache.ifTrusted("same")).as("as old as its last load").contains("value");
    append("same");
    pass(Duration.ofSeconds(1));
    assertThat(cache.ifTrusted("same")).isEmpty();
  }

  @Test
  void whatCannotBeRenewedIsServedThoughTheFeedIsHeard() {
    get("kept", "before");
    pass(Duration.ofSeconds(31));

    assertThat(get("kept", MINUTE, FeedCacheTest::gone)).contains("before");
    assertThat(refused("kept", Duration.ZERO)).isTrue();
    pass(Duration.ofSeconds(1));
    awaitGet("kept");
  }

  @Test
  void whatCannotBeRenewedIsServedNoLongerThanWasSaid() {
    get("kept", "before");
    pass(Duration.ofSeconds(60));

    assertThat(refused("kept", Duration.ofSeconds(29))).isTrue();
    assertThat(get("kept", Duration.ofSeconds(30), FeedCacheTest::gone)).contains("before");
    pass(Duration.ofSeconds(31));
    assertThat(refused("kept", MINUTE)).isTrue();
  }

  @Test
  void whatWasHeardToEndIsNeverServedInPlaceOfAnAnswer() {
    get("ended", "before");
    pass(Duration.ofSeconds(1));
    append("ended");
    pass(Duration.ofSeconds(30));

    assertThat(refused("ended", MINUTE)).isTrue();
    pass(Duration.ofSeconds(50));
    assertThat(refused("ended", MINUTE)).isTrue();
  }

  @Test
  void anEndingThatIsHeardDuringTheWaitCounts() {
    get("ending", "before");
    pass(Duration.ofSeconds(31));

    assertThat(
            refused(
                "ending",
                () -> {
                  append("ending");
                  feed.poll();
                  return gone();
                }))
        .isTrue();
  }

  @Test
  void aLateAnswerIsNotWaitedFor() throws Exception {
    get("late", "before");
    pass(Duration.ofSeconds(31));
    CountDownLatch release = new CountDownLatch(1);
    CountDownLatch loaded = new CountDownLatch(1);

    assertThat(
            get(
                "late",
                MINUTE,
                () -> {
                  await(release);
                  loaded.countDown();
                  return Optional.of("after");
                }))
        .contains("before");
    assertThat(get("late", MINUTE, () -> Optional.of("never asked for"))).contains("before");

    release.countDown();
    loaded.await();
    Awaitility.await().until(() -> cache.ifTrusted("late").equals(Optional.of("after")));
  }

  /** A second at a time, as the feed is heard. */
  private void pass(Duration time) {
    for (long second = 0; second < time.toSeconds(); second++) {
      nano.addAndGet(Duration.ofSeconds(1).toNanos());
      feed.poll();
    }
  }

  private boolean refused(String key, Supplier<Optional<String>> load) {
    try {
      get(key, MINUTE, load);
      return false;
    } catch (DatabaseUnavailable noAnswer) {
      return true;
    }
  }

  private boolean refused(String key, Duration staleMax) {
    try {
      get(key, staleMax, FeedCacheTest::gone);
      return false;
    } catch (DatabaseUnavailable refused) {
      return true;
    }
  }

  private static Optional<String> gone() {
    throw new DatabaseUnavailable("test");
  }

  /**
   * At last: on a busy machine the new value may be late, and the older one is served meanwhile.
   */
  private void awaitGet(String key) {
    Awaitility.await().until(() -> get(key, "after").equals("after"));
  }
}
