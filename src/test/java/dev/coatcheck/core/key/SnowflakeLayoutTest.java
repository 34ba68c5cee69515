package dev.coatcheck.core.key;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Instant;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvFileSource;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SnowflakeLayoutTest {
  private static final Instant NOW = Instant.parse("2026-06-01T12:00:00.123Z");

  @ParameterizedTest
  @CsvFileSource(resources = "/vectors/snowflake.csv")
  void keysOfTheVectorsTakeApartAndComeTogether(
      String name, long key, Instant time, int worker, int sequence) {
    SnowflakeLayout layout = SnowflakeLayout.named(name).orElseThrow();
    assertThat(layout.timeOf(key)).isEqualTo(time);
    assertThat(layout.workerOf(key)).isEqualTo(worker);
    assertThat(key & layout.sequenceMax()).isEqualTo(sequence);
    assertThat(layout.key(layout.position(time.toEpochMilli()) + sequence, worker)).isEqualTo(key);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "DEFAULT",
        "41/10/12@",
        "41/10/13@0",
        "0/20/43@0",
        "41/0/22@0",
        "22/21/20@0",
        "59/1/3@0",
        "39/1/23@0",
        "39x10/s6/18@0",
        "29x1000/22/12@0",
        "39x2/8/16@0",
        "39x010/16/8@0",
        "39/s8/s8/8@0",
        "39/8/8/8@0",
        "39/s8/4+4+4+4@0",
        "39/s24@0",
        "39/s12/12@1780315200124",
        "29x1000/21/13@1780315201000",
        "41/10/12@-1",
        "41/4+3+2+1/12@0",
        "41/5+/12@0",
        "41/10/12@1780315200124",
        "41/10/12@99999999999999",
        "20/23/20@0"
      })
  void unknownImpossibleUntimelyLayoutsAreInvalid(String text) {
    assertThat(SnowflakeLayout.parse(text, NOW)).isInstanceOf(LayoutParse.Invalid.class);
  }

  @ParameterizedTest
  @CsvSource({
    "41/10/12@1672531200000, default",
    "41/5+5/12@1288834974657, twitter",
    "41/3+3+4/12@1672531200000, regional",
    "wide-sequence, wide-sequence",
    "40/5+5/13@1672531200000, 40/5+5/13@1672531200000",
    "39x10/s8/16@1735689600000, 39x10/s8/16@1735689600000",
    "41x1/10/12@1672531200000, default",
    "41x4/10/12@1672531200000, 41x4/10/12@1672531200000",
    "41/s12/10@1672531200000, 41/s12/10@1672531200000",
    "39x4/4/s12/8@1672531200000, 39x4/4/s12/8@1672531200000",
    "39x4/2+2/s12/8@1672531200000, 39x4/2+2/s12/8@1672531200000",
    "41/10/12@1780315200123, 41/10/12@1780315200123"
  })
  void oneDivisionOfTheBitsHasOneName(String text, String name) {
    assertThat(SnowflakeLayout.parse(text, NOW))
        .isInstanceOfSatisfying(
            LayoutParse.Known.class, known -> assertThat(known.layout().name()).isEqualTo(name));
  }

  /** By the documents of github.com/sony/sonyflake and github.com/baidu/uid-generator. */
  @ParameterizedTest
  @CsvSource({
    // elapsed << 24 | sequence << 16 | machine, in 10 ms since 2025
    "39x10/s8/16@1735689600000, 24008867386428450, 2025-06-15T15:06:40.120Z, 3106, 7",
    "39x10/s8/16@1409529600000, 571214544442428450, 2025-06-15T15:06:40.120Z, 3106, 7",
    // seconds << 35 | worker << 13 | sequence
    "28x1000/22/13@1463673600000, 8120113273552445539, 2023-11-14T22:13:20Z, 12345, 99"
  })
  void keysOfOtherProductsTakeApartAndComeTogether(
      String name, long key, Instant time, int worker, int sequence) {
    SnowflakeLayout layout = SnowflakeLayout.accepted(name);
    assertThat(layout.timeOf(key)).isEqualTo(time);
    assertThat(layout.workerOf(key)).isEqualTo(worker);
    assertThat(layout.sequenceOf(key)).isEqualTo(sequence);
    assertThat(layout.key(layout.position(time.toEpochMilli()) + sequence, worker)).isEqualTo(key);
    assertThat(layout.positionOf(key)).isEqualTo(layout.position(time.toEpochMilli()) + sequence);
  }

  @Test
  void aSequenceMayLieBetweenTheFieldsOfTheWorker() {
    SnowflakeLayout layout = SnowflakeLayout.accepted("39x4/4/s12/8@0");
    long key = layout.key(layout.position(8) + 0xABC, layout.worker(0x7, 0xE1));
    assertThat(key).isEqualTo(0x2_7_ABC_E1L);
    assertThat(layout.workerOf(key)).isEqualTo(0x7E1);
    assertThat(layout.sequenceOf(key)).isEqualTo(0xABC);
    assertThat(layout.positionOf(key)).isEqualTo(0x2ABC);
    assertThat(layout.timeOf(key)).isEqualTo(Instant.ofEpochMilli(8));
  }

  @Test
  void aTickIsThatOfEachOfItsMilliseconds() {
    SnowflakeLayout layout = SnowflakeLayout.accepted("29x1000/21/13@1463673600000");
    long begin = 1_780_000_000_000L;
    long tick = layout.position(begin);
    assertThat(layout.position(begin + 999)).isEqualTo(tick);
    assertThat(layout.position(begin + 1_000)).isEqualTo(tick + 8_192);
    assertThat(layout.positionFrom(begin)).isEqualTo(tick);
    assertThat(layout.positionFrom(begin + 1)).isEqualTo(tick + 8_192);
    assertThat(layout.millisOf(tick + 8_191)).isEqualTo(begin);
    assertThat(layout.endMillis()).isEqualTo(1_463_673_600_000L + (1L << 29) * 1_000);
  }

  @Test
  void keysEndWithAnErrorAndAreNeverNegative() {
    SnowflakeLayout layout = SnowflakeLayout.DEFAULT;
    long end = layout.position(layout.endMillis());
    assertThat(layout.key(end - 1, layout.workers() - 1)).isEqualTo(Long.MAX_VALUE);
    assertThatThrownBy(() -> layout.key(end, 0))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("2092-09-06");
    assertThatThrownBy(() -> layout.key(-1, 0)).isInstanceOf(IllegalStateException.class);
    assertThat(layout.daysLeft(NOW)).isEqualTo(24_204);
    assertThat(layout.daysLeft(Instant.ofEpochMilli(layout.endMillis()))).isZero();
  }

  @Test
  void eightWorkersAreForGivenTimesAndSmallLayoutsHaveOneOrNone() {
    assertThat(WorkerUses.dated(SnowflakeLayout.DEFAULT))
        .containsExactly(1_021, 895, 767, 639, 511, 383, 255, 127);
    assertThat(WorkerUses.dated(SnowflakeLayout.WIDE_SEQUENCE))
        .containsExactly(253, 223, 191, 159, 127, 95, 63, 31);
    assertThat(WorkerUses.dated(SnowflakeLayout.accepted("28x1000/22/13@0")))
        .isEqualTo(WorkerUses.dated(SnowflakeLayout.DEFAULT));
    assertThat(WorkerUses.dated(SnowflakeLayout.accepted("41/6/16@0")))
        .containsExactly(61, 55, 47, 39, 31, 23, 15, 7);
    assertThat(WorkerUses.dated(SnowflakeLayout.accepted("41/5/17@0"))).containsExactly(29);
    assertThat(WorkerUses.dated(SnowflakeLayout.accepted("41/3/19@0"))).containsExactly(5);
    assertThat(WorkerUses.dated(SnowflakeLayout.accepted("41/2/20@0"))).isEmpty();
  }

  @Test
  void triggersAndBackfillsKeepTheTwoHighestWorkers() {
    assertThat(WorkerUses.shared(SnowflakeLayout.DEFAULT)).isEqualTo(1_022);
    assertThat(WorkerUses.shared(SnowflakeLayout.WIDE_SEQUENCE)).isEqualTo(254);
    assertThat(WorkerUses.shared(SnowflakeLayout.accepted("41/2/20@0"))).isEqualTo(4);
    assertThat(WorkerUses.isLeased(SnowflakeLayout.DEFAULT, 1_020)).isTrue();
    assertThat(WorkerUses.isLeased(SnowflakeLayout.DEFAULT, 895)).isFalse();
    assertThat(WorkerUses.isLeased(SnowflakeLayout.DEFAULT, WorkerUses.BACKFILL)).isFalse();
  }

  @Test
  void aWorkerIsMadeOfItsFields() {
    assertThat(SnowflakeLayout.REGIONAL.worker(7, 0, 15)).isEqualTo(911);
    assertThatThrownBy(() -> SnowflakeLayout.REGIONAL.worker(8, 0, 0))
        .hasMessageContaining("region 8");
    assertThatThrownBy(() -> SnowflakeLayout.REGIONAL.worker(1))
        .isInstanceOf(IllegalArgumentException.class);
  }

  /** Spans that follow each other share no tick, also where they part one. */
  @Test
  void boundsOfLongTicksHoldTheTicksThatBeginInTheirTime() {
    SnowflakeLayout layout = SnowflakeLayout.accepted("29x1000/21/13@1463673600000");
    Instant second = Instant.parse("2026-06-01T12:00:00Z");
    long first = layout.position(second.toEpochMilli());
    assertThat(layout.bounds(second.minusMillis(999), second.plusMillis(999)))
        .contains(
            new KeyBounds(
                new Key.Bigint(layout.key(first, 0)),
                new Key.Bigint(layout.key(first + 8_191, layout.workers() - 1))));
    assertThat(layout.bounds(second.plusMillis(1), second.plusMillis(999))).isEmpty();
    assertThat(layout.holds(second.plusMillis(1))).isTrue();
    assertThat(layout.holds(Instant.ofEpochMilli(layout.endMillis()))).isFalse();
  }

  @Test
  void boundsOutsideTheLayoutsTimeAreClampedOrEmpty() {
    SnowflakeLayout layout = SnowflakeLayout.DEFAULT;
    assertThat(layout.bounds(Instant.MIN, Instant.MAX))
        .contains(new KeyBounds(new Key.Bigint(0), new Key.Bigint(Long.MAX_VALUE)));
    assertThat(layout.bounds(Instant.MIN, Instant.EPOCH)).isEqualTo(Optional.empty());
    assertThat(layout.bounds(Instant.ofEpochMilli(layout.endMillis()), Instant.MAX)).isEmpty();
    assertThat(layout.bounds(NOW, NOW.minusMillis(1))).isEmpty();
  }
}
