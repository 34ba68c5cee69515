package dev.coatcheck.cluster.grant;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.cluster.audit.Actor;
import dev.coatcheck.core.key.Key;
import dev.coatcheck.core.key.KeyOutcome;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.postgres.sql.Database;
import dev.coatcheck.postgres.sql.TestDatabase;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.LongStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class SegmentsTest {
  private static final int STEP = 50;

  private static final TestDatabase SERVER = TestDatabase.fresh();
  private static final Observer OBSERVER = new Observer();
  private static final Database DATABASE = Database.open(SERVER.settings(6), "segments", OBSERVER);

  private final Segments one = instance();
  private final Segments two = instance();
  private final KeyFence fence = new KeyFence(DATABASE);

  @AfterAll
  static void close() {
    DATABASE.close();
  }

  @BeforeEach
  void empty() {
    SERVER.sql().execute("truncate coatcheck.segment cascade");
    KeyFence.Lift _ = fence.lift(0, KeyFence.DATED_WORKER_MAX, Actor.operator());
    SERVER.sql().execute("update coatcheck.key_fence set segment_advance = 0, dated_worker = 1");
  }

  private static Segments instance() {
    return new Segments(DATABASE, OBSERVER, System::nanoTime);
  }

  private static SegmentDefinition definition(String tag, long start, long stride, int bits) {
    return new SegmentDefinition(tag, start, stride, bits, STEP, 4 * STEP);
  }

  private SegmentPut put(String tag) {
    return one.put(definition(tag, 1, 1, 64), Actor.operator());
  }

  private static List<Long> draw(Segments instance, String tag, int count) {
    KeyOutcome draw = instance.next(tag, count);
    if (draw instanceof KeyOutcome.Drawn(List<Key> keys)) {
      return keys.stream().map(key -> ((Key.Bigint) key).value()).toList();
    }
    throw new AssertionError(draw.toString());
  }

  @Test
  void oneInstanceCountsWithoutAGap() {
    put("invoice");
    List<Long> all = new ArrayList<>();
    for (int count = 1; all.size() < 3_000; count = count * 3 % 97 + 1) {
      all.addAll(draw(one, "invoice", count));
    }

    assertThat(all).isEqualTo(LongStream.rangeClosed(1, all.size()).boxed().toList());
  }

  @Test
  void aCallMayAskForMoreThanAStep() {
    put("invoice");

    assertThat(draw(one, "invoice", 16_384)).hasSize(16_384).isSorted().startsWith(1L);
    assertThat(draw(one, "invoice", 16_384)).isSorted().startsWith(16_385L);
  }

  @Test
  void instancesAtTheSameTimeGetNoNumberTwice() throws Exception {
    put("invoice");
    List<Segments> instances = List.of(one, two, instance());
    List<Callable<List<Long>>> draws = new ArrayList<>();
    for (int i = 0; i < 12; i++) {
      Segments instance = instances.get(i % 3);
      Random random = new Random(i);
      draws.add(
          () -> {
            List<Long> all = new ArrayList<>();
            while (all.size() < 5_000) {
              all.addAll(draw(instance, "invoice", 1 + random.nextInt(300)));
            }
            return all;
          });
    }
    List<Long> all = new ArrayList<>();
    try (ExecutorService threads = Executors.newFixedThreadPool(6)) {
      for (Future<List<Long>> drawn : threads.invokeAll(draws)) {
        assertThat(drawn.get()).isSorted();
        all.addAll(drawn.get());
      }
    }
    assertThat(new HashSet<>(all)).hasSameSizeAs(all);
  }

  @Test
  void databasesThatCountApartShareNoNumber() {
    one.put(definition("odd", 1, 2, 64), Actor.operator());
    one.put(definition("even", 2, 2, 64), Actor.operator());

    assertThat(draw(one, "odd", 4)).containsExactly(1L, 3L, 5L, 7L);
    assertThat(draw(one, "even", 4)).containsExactly(2L, 4L, 6L, 8L);
    assertThat(draw(one, "odd", 1_000)).allMatch(number -> number % 2 == 1);
  }

  @Test
  void aSegmentOf32BitsEndsWithItsLastNumber() {
    long start = Integer.MAX_VALUE - 99L;
    one.put(definition("small", start, 3, 32), Actor.operator());

    assertThat(draw(one, "small", 30)).startsWith(start).doesNotHaveDuplicates();
    assertThat(one.next("small", 5)).isEqualTo(new KeyOutcome.SegmentExhausted());
    assertThat(draw(one, "small", 4)).endsWith((long) Integer.MAX_VALUE);
    assertThat(one.next("small", 1)).isEqualTo(new KeyOutcome.SegmentExhausted());
    assertThat(two.next("small", 1)).isEqualTo(new KeyOutcome.SegmentExhausted());
  }

  @Test
  void aSegmentOf64BitsEndsWithItsLastNumber() {
    one.put(definition("large", Long.MAX_VALUE - 1, 1, 64), Actor.operator());

    assertThat(draw(one, "large", 2)).containsExactly(Long.MAX_VALUE - 1, Long.MAX_VALUE);
    assertThat(one.next("large", 1)).isEqualTo(new KeyOutcome.SegmentExhausted());
  }

  @Test
  void nothingIsCountedUnderATagThatNobodyCreated() {
    assertThat(one.next("nothing", 1)).isEqualTo(new KeyOutcome.UnknownSegment());
    put("nothing");
    assertThat(draw(one, "nothing", 1)).containsExactly(1L);
  }

  @Test
  void onlyStepsChange() {
    assertThat(put("invoice")).isInstanceOf(SegmentPut.Created.class);
    assertThat(put("invoice")).isInstanceOf(SegmentPut.Replaced.class);
    assertThat(one.put(definition("invoice", 2, 1, 64), Actor.operator()))
        .isEqualTo(new SegmentPut.CountsOtherwise("start"));
    assertThat(one.put(definition("invoice", 1, 2, 64), Actor.operator()))
        .isEqualTo(new SegmentPut.CountsOtherwise("stride"));
    assertThat(one.put(definition("invoice", 1, 1, 32), Actor.operator()))
        .isEqualTo(new SegmentPut.CountsOtherwise("bits"));
    assertThat(one.put(new SegmentDefinition("invoice", 1, 1, 64, 7, 9), Actor.operator()))
        .isInstanceOf(SegmentPut.Replaced.class);
    assertThat(one.list().getFirst().definition().stepMax()).isEqualTo(9);
  }

  @Test
  void anInstanceHoldsTwoStepsAtMost() {
    put("invoice");
    List<Long> drawn = draw(one, "invoice", STEP - 1);

    assertThat(granted() - drawn.size()).isLessThanOrEqualTo(STEP + 2L * STEP);
    Awaitility.await().until(() -> granted() > STEP); // the second range is fetched ahead
    assertThat(granted()).isEqualTo(STEP + 2L * STEP);
  }

  private long granted() {
    return one.list().getFirst().granted();
  }

  @Test
  void afterAFailoverWhatIsHeldIsUsedUpAndNothingIsGrantedBeforeTheFenceIsLifted() {
    put("invoice");
    draw(one, "invoice", 1);
    closeTheFence();

    assertThat(draw(one, "invoice", 1)).containsExactly(2L);
    assertThat(two.next("invoice", 1)).isEqualTo(new KeyOutcome.Fenced());
    assertThat(one.next("invoice", 16_000)).isEqualTo(new KeyOutcome.Fenced());
    assertThat(OBSERVER.scrape()).contains("coatcheck_keys_fenced_total{kind=\"segment\"} 2");
    assertThat(fence.lift(1_000, 9, Actor.operator()))
        .isEqualTo(new KeyFence.Lift.Open(true, 1_000, 9));
    assertThat(draw(two, "invoice", 1).getFirst()).isGreaterThan(1_000);
  }

  @Test
  void liftingAnOpenFenceDoesNothing() {
    put("invoice");

    assertThat(fence.lift(1_000, 5, Actor.operator()))
        .isEqualTo(new KeyFence.Lift.Open(false, 0, 1));
    assertThat(draw(two, "invoice", 1)).containsExactly(1L);
  }

  private static void closeTheFence() {
    SERVER.sql().execute("update coatcheck.key_fence set timeline = timeline - 1");
  }

  @Test
  void whatAFailoverLostIsSkippedInOldAndNewSegments() {
    put("invoice");
    draw(one, "invoice", 500);
    put("lost");
    draw(one, "lost", 500);
    // The standby knows the segment's beginning, and nothing of the other one.
    SERVER.sql().execute("update coatcheck.segment set next_index = 10 where tag = 'invoice'");
    SERVER.sql().execute("delete from coatcheck.segment where tag = 'lost'");
    closeTheFence();
    KeyFence.Lift _ = fence.lift(600, 2, Actor.operator());

    assertThat(draw(two, "invoice", 1)).containsExactly(611L);
    assertThat(one.put(definition("lost", 1, 1, 64), Actor.operator()))
        .isInstanceOf(SegmentPut.Created.class);
    assertThat(draw(two, "lost", 1)).containsExactly(601L);
    assertThat(draw(instance(), "lost", 1).getFirst()).as("skipped once").isLessThan(1_000);
  }

  @Test
  void anInstanceThatKnowsOfMoreThanThePrimaryGoesOnBehindThat() {
    put("invoice");
    List<Long> before = draw(one, "invoice", 500);
    SERVER.sql().execute("update coatcheck.segment set next_index = 10");

    List<Long> after = draw(one, "invoice", 5_000);

    assertThat(after).doesNotContainAnyElementsOf(before);
    assertThat(draw(two, "invoice", 1)).doesNotContainAnyElementsOf(after);
  }
}
