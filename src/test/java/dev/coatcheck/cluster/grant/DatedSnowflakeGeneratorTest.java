package dev.coatcheck.cluster.grant;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.coatcheck.cluster.audit.Actor;
import dev.coatcheck.core.key.DatedKeyGenerator;
import dev.coatcheck.core.key.Key;
import dev.coatcheck.core.key.KeyOutcome;
import dev.coatcheck.core.key.KeyTimes;
import dev.coatcheck.core.key.SnowflakeLayout;
import dev.coatcheck.core.key.UuidV7;
import dev.coatcheck.core.key.WorkerUses;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.postgres.sql.Database;
import dev.coatcheck.postgres.sql.DatabaseUnavailable;
import dev.coatcheck.postgres.sql.TestDatabase;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class DatedSnowflakeGeneratorTest {
  private static final SnowflakeLayout LAYOUT = SnowflakeLayout.DEFAULT;
  private static final long AT = Instant.parse("2024-06-30T12:00:00Z").toEpochMilli();
  private static final int ROOM = 4_096;

  private static final TestDatabase SERVER = TestDatabase.fresh();
  private static final Observer OBSERVER = new Observer();
  private static final Database ONE = Database.open(SERVER.settings(4), "one", new Observer());
  private static final Database TWO = Database.open(SERVER.settings(4), "two", new Observer());

  private static final KeyFence FENCE = new KeyFence(ONE);

  private final DatedKeyGenerator keys = generators(ONE, LAYOUT);

  @AfterAll
  static void close() {
    ONE.close();
    TWO.close();
  }

  @BeforeEach
  void empty() {
    SERVER.sql().execute("truncate coatcheck.dated_key");
    KeyFence.Lift _ = FENCE.lift(0, KeyFence.DATED_WORKER_MAX, Actor.operator());
    SERVER.sql().execute("update coatcheck.key_fence set segment_advance = 0, dated_worker = 1");
  }

  private static DatedKeyGenerator generators(Database database, SnowflakeLayout layout) {
    return new DatedKeyGenerators(database, WorkerUses::dated, OBSERVER)
        .of(new KeyTimes.Snowflakes(layout))
        .orElseThrow();
  }

  private static long[] times(int count, long millis) {
    long[] times = new long[count];
    Arrays.fill(times, millis);
    return times;
  }

  /** Asks again where a machine is too busy to answer in time: the numbers of that are lost. */
  private static List<Long> draw(DatedKeyGenerator from, long... millis) {
    KeyOutcome outcome =
        Awaitility.await()
            .ignoreExceptionsInstanceOf(DatabaseUnavailable.class)
            .until(() -> from.at(millis), Objects::nonNull);
    if (outcome instanceof KeyOutcome.Drawn(List<Key> drawn)) {
      return drawn.stream().map(key -> ((Key.Bigint) key).value()).toList();
    }
    throw new AssertionError(outcome.toString());
  }

  @Test
  void aKeyCarriesItsTimeAndAWorkerThatIsNeverLeased() {
    long key = draw(keys, AT).getFirst();

    assertThat(LAYOUT.timeOf(key).toEpochMilli()).isEqualTo(AT);
    assertThat(LAYOUT.workerOf(key)).isEqualTo(1_021);
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
    DatedKeyGenerator ofSeconds = generators(ONE, seconds);
    Set<Long> seen = new HashSet<>(draw(ofSeconds, times(8_000, AT)));
    seen.addAll(draw(ofSeconds, times(10_000, AT + 1)));
    seen.addAll(draw(ofSeconds, times(10_000, AT + 2)));

    assertThat(seen).hasSize(28_000);
    assertThat(seen)
        .allSatisfy(
            key -> assertThat(seconds.timeOf(key).toEpochMilli() - AT).isBetween(-999L, 3_000L));
    assertThat(draw(ofSeconds, times(1, AT + 10_000)).getFirst())
        .isEqualTo(
            seconds.key(seconds.position(AT + 10_000), WorkerUses.dated(seconds).getFirst()));
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
      DatedKeyGenerator instance = generators(i % 2 == 0 ? ONE : TWO, LAYOUT);
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
    DatedKeyGenerator other = generators(ONE, SnowflakeLayout.REGIONAL);

    assertThat(draw(keys, times(ROOM, AT))).isEqualTo(draw(other, times(ROOM, AT)));
  }

  @Test
  void anotherTimelineOrSystemGetsNoKeysUntilTheFenceIsLifted() {
    List<Long> before = draw(keys, times(10, AT));
    int datedWorker = 1;
    for (String change : List.of("timeline = timeline - 1", "system_identifier = 1")) {
      SERVER.sql().execute("update coatcheck.key_fence set " + change);

      assertThat(keys.at(times(1, AT))).isEqualTo(new KeyOutcome.Fenced());
      assertThat(OBSERVER.scrape()).contains("coatcheck_keys_fenced_total{kind=\"dated\"}");
      assertThat(FENCE.lift(0, datedWorker, Actor.operator()))
          .isEqualTo(new KeyFence.Lift.WorkerUsed(datedWorker));
      assertThat(keys.at(times(1, AT))).isEqualTo(new KeyOutcome.Fenced());
      datedWorker++;
      assertThat(FENCE.lift(0, datedWorker, Actor.operator()))
          .isEqualTo(new KeyFence.Lift.Open(true, 0, datedWorker));
      assertThat(draw(keys, times(10, AT))).doesNotContainAnyElementsOf(before);
    }
    assertThat(FENCE.lift(0, 7, Actor.operator())).isEqualTo(new KeyFence.Lift.Open(false, 0, 3));
  }

  /** On the same server too, where neither its identifier nor its timeline tells. */
  @Test
  void aRestoredDumpGrantsNoKeysUntilTheFenceIsLifted() {
    SERVER
        .sql()
        .execute(
            "create table coatcheck.restored (like coatcheck.key_fence including all)",
            "insert into coatcheck.restored select * from coatcheck.key_fence",
            "drop table coatcheck.key_fence",
            "alter table coatcheck.restored rename to key_fence");

    assertThat(keys.at(times(1, AT))).isEqualTo(new KeyOutcome.Fenced());
    assertThat(FENCE.lift(0, 2, Actor.operator())).isEqualTo(new KeyFence.Lift.Open(true, 0, 2));
    assertThat(draw(keys, times(1, AT))).hasSize(1);
  }

  private static void failOver() {
    SERVER.sql().execute("update coatcheck.key_fence set timeline = timeline - 1");
  }

  /** The ticks of the keys are far more than full. */
  @Test
  void asManyFailoversAsThereAreWorkersMakeNoKeyTwiceThoughEachLosesAllCounts() {
    Set<Long> seen = new HashSet<>(draw(keys, times(16_000, AT)));
    for (int datedWorker = 2; datedWorker <= 8; datedWorker++) {
      failOver();
      SERVER.sql().execute("truncate coatcheck.dated_key");
      KeyFence.Lift _ = FENCE.lift(KeyFence.ADVANCE_MAX, datedWorker, Actor.operator());

      seen.addAll(draw(keys, times(16_000, AT)));
    }
    assertThat(seen).hasSize(8 * 16_000);
    assertThat(seen.stream().map(LAYOUT::workerOf).distinct())
        .hasSameElementsAs(WorkerUses.dated(LAYOUT));
  }

  /** B knows all of A, and C only what A had before B. */
  @Test
  void aStandbyThatNeverSawTheLiftBeforeMakesNoKeyTwice() {
    Set<Long> seen = new HashSet<>(draw(keys, times(100, AT)));
    failOver();
    KeyFence.Lift _ = FENCE.lift(0, 2, Actor.operator());
    for (int call = 0; call < 18; call++) {
      seen.addAll(draw(keys, times(1_000, AT)));
    }
    SERVER.sql().execute("delete from coatcheck.dated_key where worker <> 1021");
    SERVER.sql().execute("update coatcheck.key_fence set dated_worker = 1");
    failOver();
    assertThat(FENCE.lift(0, 1, Actor.operator())).isEqualTo(new KeyFence.Lift.WorkerUsed(1));
    KeyFence.Lift _ = FENCE.lift(0, 3, Actor.operator());
    for (int call = 0; call < 18; call++) {
      seen.addAll(draw(keys, times(1_000, AT)));
    }

    assertThat(seen).hasSize(100 + 2 * 18_000);
  }

  @Test
  void layoutsWithoutAFurtherWorkerMakeNoMoreKeysAndOthersGoOn() {
    SnowflakeLayout small = SnowflakeLayout.accepted("41/5/17@0");
    DatedKeyGenerator ofSmall = generators(ONE, small);
    assertThat(small.workerOf(draw(ofSmall, AT).getFirst())).isEqualTo(29);
    failOver();
    KeyFence.Lift _ = FENCE.lift(0, 8, Actor.operator());

    assertThat(ofSmall.at(times(1, AT))).isEqualTo(new KeyOutcome.NoDatedWorkerLeft(small.name()));
    assertThat(LAYOUT.workerOf(draw(keys, AT).getFirst())).isEqualTo(127);
    failOver();
    KeyFence.Lift _ = FENCE.lift(0, 9, Actor.operator());
    assertThat(keys.at(times(1, AT))).isEqualTo(new KeyOutcome.NoDatedWorkerLeft("default"));
  }

  @Test
  void theDatabasesOfSeveralRangesHaveWorkersOfTheirOwn() {
    DatedKeyGenerator low =
        new DatedKeyGenerators(ONE, _ -> List.of(383, 255, 127), OBSERVER)
            .of(new KeyTimes.Snowflakes(LAYOUT))
            .orElseThrow();
    assertThat(LAYOUT.workerOf(draw(low, AT).getFirst())).isEqualTo(383);
    failOver();
    KeyFence.Lift _ = FENCE.lift(0, 3, Actor.operator());
    assertThat(LAYOUT.workerOf(draw(low, AT).getFirst())).isEqualTo(127);
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
    if (UuidV7.dated().at(times) instanceof KeyOutcome.Drawn(List<Key> drawn)) {
      return drawn.stream().map(key -> ((Key.Uuid) key).value()).toList();
    }
    throw new AssertionError("no keys");
  }
}
