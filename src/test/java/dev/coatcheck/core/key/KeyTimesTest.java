package dev.coatcheck.core.key;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class KeyTimesTest {
  private static final Instant FROM = Instant.parse("2026-11-20T00:00:00Z");
  private static final KeyTimes SNOWFLAKES = new KeyTimes.Snowflakes(SnowflakeLayout.DEFAULT);

  @Test
  void spansThatFollowEachOtherShareNoKeyAndLeaveNoneOut() {
    for (long nanos : new long[] {0, 1, 400_000, 999_999}) {
      Instant middle = FROM.plusSeconds(1).plusNanos(nanos);
      KeyBounds before = SNOWFLAKES.between(FROM, middle).orElseThrow();
      KeyBounds after = SNOWFLAKES.between(middle, middle.plusSeconds(1)).orElseThrow();

      assertThat(value(after.smallest())).as("%d ns", nanos).isEqualTo(value(before.largest()) + 1);
    }
  }

  @Test
  void theFirstMomentIsInsideAndTheLastIsNot() {
    SnowflakeLayout layout = SnowflakeLayout.DEFAULT;
    KeyBounds bounds = SNOWFLAKES.between(FROM, FROM.plusMillis(1)).orElseThrow();
    long first = layout.position(FROM.toEpochMilli());

    assertThat(value(bounds.smallest())).isEqualTo(layout.key(first, 0));
    assertThat(value(bounds.largest()))
        .isEqualTo(layout.key(first + layout.sequenceMax(), layout.workers() - 1));
  }

  @Test
  void aMillisecondThatBeganBeforeTheSpanIsOutside() {
    KeyBounds bounds =
        SNOWFLAKES.between(FROM.plusNanos(400_000), FROM.plusMillis(2)).orElseThrow();

    assertThat(SnowflakeLayout.DEFAULT.timeOf(value(bounds.smallest())))
        .isEqualTo(FROM.plusMillis(1));
  }

  @ParameterizedTest
  @EnumSource(KeyKind.class)
  void aSpanWithoutAMillisecondHasNoKeys(KeyKind kind) {
    KeyTimes times = (KeyTimes) KeyGeneration.usual(kind);

    assertThat(times.between(FROM, FROM)).isEmpty();
    assertThat(times.between(FROM.plusNanos(1), FROM.plusNanos(2))).isEmpty();
    assertThat(times.between(Instant.EPOCH, Instant.ofEpochMilli(times.epochMillis()))).isEmpty();
  }

  private static long value(Key key) {
    return ((Key.Bigint) key).value();
  }
}
