package dev.coatcheck.cluster.grant;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.coatcheck.core.key.DatedKeys;
import dev.coatcheck.core.key.Key;
import dev.coatcheck.core.key.KeyDraw;
import dev.coatcheck.core.key.KeyScheme;
import dev.coatcheck.core.key.SnowflakeLayout;
import dev.coatcheck.core.key.WorkerUses;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.postgres.sql.Database;
import dev.coatcheck.postgres.sql.TestDatabase;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class DatedSnowflakesTest {
  private static final SnowflakeLayout LAYOUT = SnowflakeLayout.DEFAULT;
  private static final long AT = Instant.parse("2024-06-30T12:00:00Z").toEpochMilli();
  private static final int ROOM = 4_096;

  private static final TestDatabase SERVER = TestDatabase.fresh();
  private static final Observer OBSERVER = new Observer();
  private static final Database ONE = Database.open(SERVER.settings(4), "one", new Observer());
  private static final Database TWO = Database.open(SERVER.settings(4), "two", new Observer());

  private final DatedKeys keys = generators(ONE, LAYOUT);

  @AfterAll
  static void close() {
    ONE.close();
    TWO.close();
  }

  @BeforeEach
  void empty() {
    SERVER.sql().execute("truncate coatcheck.dated_key");
    new KeyFence(ONE).lift(0, 0);
    SERVER.sql().execute("update coatcheck.key_fence set segment_advance = 0, dated_advance = 0");
  }

  private static DatedKeys generators(Database database, SnowflakeLayout layout) {
    return new DatedGenerators(database, _ -> true, OBSERVER)
        .of(KeyScheme.SNOWFLAKE, layout)
        .orElseThrow();
  }

  private static long[] times(int count, long millis) {
    long[] times = new long[count];
    Arrays.fill(times, millis);
    return times;
  }

  private static List<Long> draw(DatedKeys from, long... millis) {
    if (from.at(millis) instanceof KeyDraw.Drawn(List<Key> drawn)) {
      return drawn.stream().map(key -> ((Key.Bigint) key).value()).toList();
    }
    throw new AssertionError(from.at(millis).toString());
  }

  @Test
  void aKeyCarriesItsTimeAndTheWorkerThatIsNeverLeased() {
    long key = draw(keys, AT).getFirst();

    assertThat(LAYOUT.timeOf(key).toEpochMilli()).isEqualTo(AT);
    assertThat(LAYOUT.workerOf(key)).isEqualTo(WorkerUses.DATED);
  }

  @Test
  void aFullMillisecondGoesOnInTheNextOnes() {
    Set<Long> seen = new HashSet<>();
    for (int call = 0; call < 3; call++) {
      List<Long> drawn = draw(keys, times(16_384, AT));

      assertThat(drawn).isSorted().hasSize(16_384);
      seen.addAll(drawn);
    }
    assertThat(seen).hasSize(3 * 16_384);
    assertThat(seen)
        .allSatisfy(
            key ->
                assertThat(LAYOUT.timeOf(key).toEpochMilli())
                    .isBetween(AT, AT + 3 * 16_384 / ROOM));
  }

  /** All milliseconds of a tick share its numbers. */
  @Test
  void aFullTickOfASecondGoesOnInTheNextOnes() {
    SnowflakeLayout seconds = SnowflakeLayout.accepted("29x1000/21/13@1463673600000");
    DatedKeys ofSeconds = generators(ONE, seconds);
    Set<Long> seen = new HashSet<>(draw(ofSeconds, times(8_000, AT)));
    seen.addAll(draw(ofSeconds, times(10_000, AT + 1)));
    seen.addAll(draw(ofSeconds, times(10_000, AT + 2)));

    assertThat(seen).hasSize(28_000);
    assertThat(seen)
        .allSatisfy(
            key -> assertThat(seconds.timeOf(key).toEpochMilli() - AT).isBetween(-999L, 3_000L));
    assertThat(draw(ofSeconds, times(1, AT + 10_000)).getFirst())
        .isEqualTo(
            seconds.key(seconds.position(AT + 10_000), WorkerUses.dated(seconds).orElseThrow()));
  }

  @Test
  void eachKeyIsNotBeforeItsOwnTimeThoughCrowdsPushIt() {
    Random random = new Random(7);
    Set<Long> seen = new HashSet<>();
    for (int call = 0; call < 6; call++) {
      long[] times = random.longs(16_384, AT, AT + 12).sorted().toArray();
      List<Long> drawn = draw(keys, times);

      assertThat(drawn).isSorted();
      for (int i = 0; i < times.length; i++) {
        assertThat(LAYOUT.timeOf(drawn.get(i)).toEpochMilli()).isGreaterThanOrEqualTo(times[i]);
      }
      seen.addAll(drawn);
    }
    assertThat(seen).hasSize(6 * 16_384);
  }

  @Test
  void instancesAtTheSameTimesGetNoKeyTwice() throws Exception {
    List<Callable<List<Long>>> draws = new ArrayList<>();
    for (int i = 0; i < 24; i++) {
      DatedKeys instance = generators(i % 2 == 0 ? ONE : TWO, LAYOUT);
      Random random = new Random(i);
      draws.add(
          () -> {
            List<Long> all = new ArrayList<>();
            for (int call = 0; call < 20; call++) {
              all.addAll(draw(instance, random.longs(300, AT, AT + 40).sorted().toArray()));
            }
            return all;
          });
    }
    List<Long> all = new ArrayList<>();
    try (ExecutorService threads = Executors.newFixedThreadPool(6)) {
      for (Future<List<Long>> drawn : threads.invokeAll(draws)) {
        all.addAll(drawn.get());
      }
    }
    assertThat(all).hasSize(24 * 20 * 300);
    assertThat(new HashSet<>(all)).hasSameSizeAs(all);
  }

  @Test
  void layoutsAreCountedApart() {
    DatedKeys other = generators(ONE, SnowflakeLayout.REGIONAL);

    assertThat(draw(keys, times(ROOM, AT))).isEqualTo(draw(other, times(ROOM, AT)));
  }

  @Test
  void anotherTimelineOrSystemGetsNoKeysUntilTheFenceIsLifted() {
    List<Long> before = draw(keys, times(10, AT));
    for (String change : List.of("timeline = timeline - 1", "system_identifier = 1")) {
      SERVER.sql().execute("update coatcheck.key_fence set " + change);

      assertThat(keys.at(times(1, AT))).isEqualTo(new KeyDraw.Fenced());
      assertThat(OBSERVER.scrape()).contains("coatcheck_keys_fenced_total{kind=\"dated\"}");
      assertThat(new KeyFence(ONE).lift(0, 100).wasClosed()).isTrue();
      assertThat(draw(keys, times(10, AT))).doesNotContainAnyElementsOf(before);
    }
    assertThat(new KeyFence(ONE).lift(0, 0)).isEqualTo(new KeyFence.Lifted(false, 0, 200));
  }

  @Test
  void whatAFailoverLostIsSkippedInOldAndNewMilliseconds() {
    List<Long> kept = draw(keys, times(10, AT));
    List<Long> lost = new ArrayList<>(draw(keys, times(90, AT)));
    lost.addAll(draw(keys, times(100, AT + 1)));
    // The standby knows the first 10 keys of one millisecond, and nothing of the other.
    SERVER.sql().execute("update coatcheck.dated_key set granted = 10 where millis = " + AT);
    SERVER.sql().execute("delete from coatcheck.dated_key where millis <> " + AT);
    KeyFence.Lifted _ = new KeyFence(ONE).lift(0, 100);

    List<Long> after = new ArrayList<>(draw(keys, times(50, AT)));
    after.addAll(draw(keys, times(50, AT)));
    after.addAll(draw(keys, times(50, AT + 1)));

    assertThat(after).doesNotContainAnyElementsOf(kept).doesNotContainAnyElementsOf(lost);
    assertThat(new HashSet<>(after)).hasSize(150);
  }

  @Test
  void timesOutOfOrderAreRefused() {
    assertThatThrownBy(() -> keys.at(new long[] {AT, AT - 1})).hasMessageContaining("index 1");
    assertThatThrownBy(() -> keys.at(new long[0])).hasMessageContaining("count 0");
    assertThatThrownBy(() -> keys.at(times(16_385, AT))).hasMessageContaining("16385");
  }

  @Test
  void uuidsCarryTheirTimesAndRise() {
    long[] times = {AT, AT, AT + 1, AT + 5_000};
    List<UUID> drawn = drawUuids(times);

    assertThat(drawn).isSortedAccordingTo((a, b) -> a.toString().compareTo(b.toString()));
    for (int i = 0; i < times.length; i++) {
      assertThat(drawn.get(i).getMostSignificantBits() >>> 16).isEqualTo(times[i]);
      assertThat(drawn.get(i).version()).isEqualTo(7);
      assertThat(drawn.get(i).variant()).isEqualTo(2);
    }
  }

  @Test
  void aTimeThatWasAskedForBeforeGetsOtherUuids() {
    Set<UUID> seen = new HashSet<>();
    for (int i = 0; i < 10_000; i++) {
      seen.addAll(drawUuids(AT + i % 2));
    }
    assertThat(seen).hasSize(10_000);
  }

  private List<UUID> drawUuids(long... times) {
    if (new DatedUuids().at(times) instanceof KeyDraw.Drawn(List<Key> drawn)) {
      return drawn.stream().map(key -> ((Key.Uuid) key).value()).toList();
    }
    throw new AssertionError("no keys");
  }
}
