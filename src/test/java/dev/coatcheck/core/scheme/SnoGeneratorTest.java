package dev.coatcheck.core.scheme;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.coatcheck.core.key.Waiter;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SnoGeneratorTest {
  private static final SequenceRange FOUR = new SequenceRange(0, 3);
  private static final long SEED = Long.getLong("seed", System.nanoTime());

  /** Of which a wait lets a millisecond pass. */
  private static final class Clock implements Waiter {
    private final AtomicLong millis =
        new AtomicLong(Instant.parse("2026-11-22T00:00:00Z").toEpochMilli());

    @Override
    public long nanoTime() {
      return millis.get() * 1_000_000;
    }

    @Override
    public void pause(long nanos) {
      millis.incrementAndGet();
    }
  }

  private final Clock clock = new Clock();

  private static SnoSnapshot fresh(int partition, SequenceRange sequences) {
    return SnoSnapshot.fresh(new SnoShare(partition, sequences));
  }

  private SnoGenerator from(SnoSnapshot begin) {
    return new SnoGenerator(begin, clock.millis::get, clock, (_, _) -> {});
  }

  @Test
  void theFirstStepBackFlipsTheBitAndTheSecondIntoTheSameTicksWaits() {
    SnoGenerator generator = from(fresh(7, SequenceRange.ALL));
    long start = clock.millis.get();
    SnoId first = generator.next(1);
    clock.millis.set(start + 400);
    SnoId latest = generator.next(1);

    clock.millis.set(start + 100);
    SnoId again = generator.next(1);
    clock.millis.set(start + 40);
    SnoId afterwards = generator.next(1);

    assertThat(first.isTock()).isFalse();
    assertThat(latest.isTock()).isFalse();
    assertThat(again.isTock()).isTrue();
    assertThat(again.tick()).isEqualTo(latest.tick() - 75);
    assertThat(afterwards).isEqualTo(new SnoId(again.tick(), true, 1, 7, again.sequence() + 1));
    assertThat(clock.millis.get()).as("waited").isGreaterThanOrEqualTo(start + 100);
    assertThat(generator.snapshot().stepsBack()).isEqualTo(1);
  }

  @Test
  void aSecondStepBackByMoreThanTenSecondsIsRefusedWithItsSize() {
    SnoGenerator generator = from(fresh(7, SequenceRange.ALL));
    long start = clock.millis.get();
    generator.next(1);
    clock.millis.set(start - 3_600_000);
    SnoId flipped = generator.next(1);
    clock.millis.set(start - 3_600_000 - 10_004);

    assertThatThrownBy(() -> generator.next(1))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageStartingWith("the clock is 10 s behind");
    clock.millis.set(start - 3_600_000 - 10_000);
    assertThat(generator.next(1))
        .isEqualTo(new SnoId(flipped.tick(), true, 1, 7, flipped.sequence() + 1));
  }

  /** Behind its latest ID by 41 s, and by 1 s behind the ticks that were used before those. */
  @Test
  void onlyTheTicksThatWereUsedTwiceAreWaitedFor() {
    SnoGenerator generator = from(fresh(7, SequenceRange.ALL));
    long start = clock.millis.get();
    for (int second : new int[] {100, 40, 140}) {
      clock.millis.set(start + second * 1_000L);
      generator.next(1);
    }

    clock.millis.set(start + 99_000);
    SnoId waited = generator.next(1);

    assertThat(waited.isTock()).isFalse();
    assertThat(clock.millis.get()).isEqualTo(start + 100_000 + SnoId.MILLIS_PER_TICK);
  }

  /** Whatever the clock does, and however often the generator is restored. */
  @Test
  void noIdComesTwiceOverStepsBackAndRestartsFromASnapshot() {
    Random random = new Random(SEED);
    Set<String> made = new HashSet<>();
    SnoGenerator generator = from(fresh(7, new SequenceRange(8, 23)));
    for (int round = 0; round < 20_000; round++) {
      for (int i = random.nextInt(20); i >= 0; i--) {
        String id = generator.next(0).toString();
        assertThat(made.add(id)).as("-Dseed=%d %s", SEED, id).isTrue();
      }
      long step =
          switch (random.nextInt(10)) {
            case 0 -> -random.nextLong(400);
            case 1 -> -random.nextLong(40);
            case 2 -> random.nextLong(400);
            default -> random.nextLong(8);
          };
      clock.millis.addAndGet(step);
      if (random.nextInt(20) == 0) {
        generator = from(SnoSnapshot.parse(generator.snapshot().toString()).orElseThrow());
      }
    }
    assertThat(generator.snapshot().stepsBack()).isGreaterThan(100);
  }

  @Test
  void writersOfOnePartitionMakeDifferentIds() {
    List<SnoGenerator> writers =
        Stream.of(new SequenceRange(0, 32_767), new SequenceRange(32_768, 65_535))
            .map(range -> from(fresh(7, range)))
            .toList();
    Set<SnoId> made = new HashSet<>();
    for (int i = 0; i < 60_000; i++) {
      writers.forEach(writer -> made.add(writer.next(0)));
    }
    assertThat(made).hasSize(120_000);
  }

  @Test
  void rangesOfLessThanFourAreRefusedAndSharesOfOnePartitionOverlap() {
    SnoShare share = new SnoShare(7, new SequenceRange(0, 99));

    assertThat(share.overlaps(new SnoShare(7, new SequenceRange(99, 200)))).isTrue();
    assertThat(share.overlaps(new SnoShare(7, new SequenceRange(100, 103)))).isFalse();
    assertThat(share.overlaps(new SnoShare(8, new SequenceRange(0, 99)))).isFalse();
    assertThatThrownBy(() -> new SequenceRange(200, 202)).hasMessageContaining("has 4 at least");
    assertThatThrownBy(() -> new SequenceRange(65_533, 65_536)).hasMessageContaining("0..65535");
  }

  @Test
  void aFullTickIsToldOnceWithTheNumberOfThoseInARow() {
    clock.millis.set(SnoId.EPOCH.toEpochMilli() + 4_000);
    List<String> notices = new ArrayList<>();
    SnoGenerator generator =
        new SnoGenerator(
            fresh(7, FOUR),
            clock.millis::get,
            clock,
            (tick, ticks) -> {
              notices.add(tick + " " + ticks);
              clock.millis.addAndGet(ticks == 2 ? 2 * SnoId.MILLIS_PER_TICK : 0);
            });
    for (int i = 0; i < 13; i++) {
      generator.next(0);
    }
    assertThat(notices).containsExactly(at(4_000) + " 1", at(4_004) + " 2", at(4_012) + " 3");

    clock.millis.addAndGet(SnoId.MILLIS_PER_TICK);
    for (int i = 0; i < 5; i++) {
      generator.next(0);
    }
    assertThat(notices.getLast()).as("after a tick that had room").isEqualTo(at(4_020) + " 1");
  }

  private static Instant at(long millis) {
    return SnoId.EPOCH.plusMillis(millis);
  }

  @ParameterizedTest
  @CsvSource({
    "partition=1 sequences=0-3 tick=5 sequence=2 tock=false used_up_to=-1 steps_back=0,true",
    "partition=1 sequences=0-2 tick=5 sequence=2 tock=false used_up_to=-1 steps_back=0,false",
    "partition=1 sequences=0-3 tick=5 sequence=2 tock=no used_up_to=-1 steps_back=0,false",
    "partition=70000 sequences=0-3 tick=5 sequence=2 tock=false used_up_to=-1 steps_back=0,false",
    "partition=1 sequences=0-3 tick=5 sequence=4 tock=false used_up_to=-1 steps_back=0,false",
    "partition=1 sequences=0-3 tick=549755813888 sequence=2 tock=false used_up_to=-1"
        + " steps_back=0,false",
    "partition=1 sequences=0-3 tick=5 sequence=2 tock=false used_up_to=549755813888"
        + " steps_back=0,false",
    "partition=01 sequences=0-3 tick=5 sequence=2 tock=false used_up_to=-1 steps_back=0,false",
    "'',false"
  })
  void aSnapshotIsReadOrRefused(String text, boolean isSound) {
    assertThat(SnoSnapshot.parse(text).map(SnoSnapshot::toString))
        .isEqualTo(isSound ? java.util.Optional.of(text) : java.util.Optional.empty());
  }

  @Test
  void aClockBeforeTheEpochMakesNothing() {
    clock.millis.set(SnoId.EPOCH.toEpochMilli() - 1);

    assertThatThrownBy(() -> from(fresh(7, FOUR)).next(0))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("before 2010");
  }

  /** The example of github.com/muyo/sno, encoding_test.go. */
  @Test
  void readsAndWritesThePublishedExample() {
    SnoId id = SnoId.parse("brpk4q72xwf2m63l").orElseThrow();

    assertThat(id.metabyte()).isEqualTo(255);
    assertThat(id.partition()).isEqualTo(0x9a0a);
    assertThat(id.sequence()).isEqualTo(0x1033);
    assertThat(id.isTock()).isFalse();
    assertThat(id.time()).isEqualTo(Instant.parse("2031-05-08T23:03:34.976Z"));
    assertThat(id).hasToString("brpk4q72xwf2m63l");
  }

  @Test
  void everyIdHasOneTextAndTextsSortAsTheirFieldsDo() {
    Random random = new Random(7);
    List<SnoId> ids =
        IntStream.range(0, 20_000)
            .mapToObj(
                _ ->
                    new SnoId(
                        random.nextLong(SnoId.TICK_END),
                        random.nextBoolean(),
                        random.nextInt(256),
                        random.nextInt(65_536),
                        random.nextInt(65_536)))
            .toList();

    assertThat(ids).allSatisfy(id -> assertThat(SnoId.parse(id.toString())).contains(id));
    assertThat(ids.stream().sorted(Comparator.comparing(SnoId::toString)))
        .isSortedAccordingTo(
            Comparator.comparingLong(SnoId::tick)
                .thenComparing(SnoId::isTock)
                .thenComparingInt(SnoId::metabyte)
                .thenComparingInt(SnoId::partition)
                .thenComparingInt(SnoId::sequence));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "brpk4q72xwf2m63",
        "brpk4q72xwf2m63l2",
        "brpk4q72xwf2m63y",
        "BRPK4Q72XWF2M63L",
        "brpk4q72xwf2m630"
      })
  void anythingElseIsRefused(String text) {
    assertThat(SnoId.parse(text)).isEmpty();
  }

  @Test
  void metabyteAndPartitionCanBeChanged() {
    SnoId id = new SnoId(5, true, 1, 2, 3);

    assertThat(id.withMetabyte(255)).isEqualTo(new SnoId(5, true, 255, 2, 3));
    assertThat(id.withPartition(65_535)).isEqualTo(new SnoId(5, true, 1, 65_535, 3));
    assertThatThrownBy(() -> id.withMetabyte(256)).hasMessage("metabyte 256 is not within 0..255");
    assertThatThrownBy(() -> id.withPartition(-1))
        .hasMessage("partition -1 is not within 0..65535");
  }
}
