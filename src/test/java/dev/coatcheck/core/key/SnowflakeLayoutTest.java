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
        "41/10/12",
        "41/10/12@",
        "41/10/13@0",
        "0/20/43@0",
        "41/0/22@0",
        "22/21/20@0",
        "59/1/3@0",
        "39/1/23@0",
        "41/10/12@-1",
        "41/10/12@01",
        "41/4+3+2+1/12@0",
        "41/5+/12@0",
        "41/10/12@1780315200124",
        "41/10/12@99999999999999",
        "20/21/22@0",
        "38/20/5@0"
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
    "41/10/12@1780315200123, 41/10/12@1780315200123"
  })
  void oneDivisionOfTheBitsHasOneName(String text, String name) {
    assertThat(SnowflakeLayout.parse(text, NOW))
        .isInstanceOfSatisfying(
            LayoutParse.Known.class, known -> assertThat(known.layout().name()).isEqualTo(name));
  }

  @Test
  void keysEndWithAnErrorAndAreNeverNegative() {
    SnowflakeLayout layout = SnowflakeLayout.DEFAULT;
    long end = layout.position(layout.endMillis());
    assertThat(layout.key(end - 1, layout.workers() - 1)).isEqualTo(Long.MAX_VALUE);
    assertThatThrownBy(() -> layout.key(end, 0))
        .isInstanceOf(EndOfTimeException.class)
        .hasMessageContaining("2092-09-06");
    assertThatThrownBy(() -> layout.key(-1, 0)).isInstanceOf(IllegalStateException.class);
    assertThat(layout.daysLeft(NOW)).isEqualTo(24_204);
    assertThat(layout.daysLeft(Instant.ofEpochMilli(layout.endMillis()))).isZero();
  }

  @Test
  void triggersBackfillsAndGivenTimesKeepTheThreeHighestWorkers() {
    assertThat(SnowflakeLayout.DEFAULT.workersLeased()).isEqualTo(1_021);
    assertThat(SnowflakeLayout.WIDE_SEQUENCE.workersLeased()).isEqualTo(253);
    assertThat(SnowflakeLayout.DEFAULT.datedWorker()).hasValue(1_021);
    assertThat(SnowflakeLayout.WIDE_SEQUENCE.datedWorker()).hasValue(253);
    assertThat(SnowflakeLayout.accepted("41/3/19@0").datedWorker()).hasValue(5);
    assertThat(SnowflakeLayout.accepted("41/2/20@0").datedWorker()).isEmpty();
    assertThat(SnowflakeLayout.accepted("41/2/20@0").workersLeased()).isEqualTo(4);
  }

  @Test
  void noWorkerHasTwoUses() {
    for (SnowflakeLayout layout : SnowflakeLayout.NAMED) {
      assertThat(layout.datedWorker().orElseThrow())
          .isGreaterThanOrEqualTo(layout.workersLeased())
          .isEqualTo(layout.workersShared() - 1);
    }
    assertThat(SnowflakeLayout.DATED_WORKER)
        .isEqualTo(SnowflakeLayout.DEFAULT.datedWorker().orElseThrow())
        .isLessThan(SnowflakeLayout.BACKFILL_WORKER);
  }

  @Test
  void aWorkerIsMadeOfItsFields() {
    assertThat(SnowflakeLayout.REGIONAL.worker(7, 0, 15)).isEqualTo(911);
    assertThatThrownBy(() -> SnowflakeLayout.REGIONAL.worker(8, 0, 0))
        .hasMessageContaining("region 8");
    assertThatThrownBy(() -> SnowflakeLayout.REGIONAL.worker(1))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void boundsHoldEveryKeyOfTheirTimeAndNoOther() {
    for (SnowflakeLayout layout : SnowflakeLayout.NAMED) {
      KeyBounds bounds = layout.bounds(NOW, NOW).orElseThrow();
      long first = layout.position(NOW.toEpochMilli());
      long lastOfMilli = layout.position(NOW.toEpochMilli() + 1) - 1;
      assertThat(bounds.smallest()).isEqualTo(new Key.Bigint(layout.key(first, 0)));
      assertThat(bounds.largest())
          .isEqualTo(new Key.Bigint(layout.key(lastOfMilli, layout.workers() - 1)));
    }
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
