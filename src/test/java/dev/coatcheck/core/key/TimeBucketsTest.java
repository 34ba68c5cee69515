package dev.coatcheck.core.key;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Instant;
import org.junit.jupiter.api.Test;

class TimeBucketsTest {
  private static final long TEN_DAYS_MILLIS = 864_000_000;
  private static final Instant EPOCH = Instant.ofEpochMilli(1_420_070_400_000L);
  private static final TimeBuckets TEN_DAYS =
      new TimeBuckets(EPOCH.toEpochMilli(), TEN_DAYS_MILLIS);

  @Test
  void aBucketBeginsWithItsFirstMillisecondAndEndsBeforeTheNext() {
    Instant begin = TEN_DAYS.begin(3);

    assertThat(TEN_DAYS.numberOf(begin)).isEqualTo(3);
    assertThat(TEN_DAYS.numberOf(begin.minusNanos(1))).isEqualTo(2);
    assertThat(TEN_DAYS.numberOf(TEN_DAYS.end(3).minusNanos(1))).isEqualTo(3);
    assertThat(TEN_DAYS.end(3)).isEqualTo(TEN_DAYS.begin(4));
    assertThat(TEN_DAYS.numberOf(EPOCH.minusMillis(1))).isEqualTo(-1);
  }

  @Test
  void theBucketsOfASpanAreListedNewestFirstAndTouchIt() {
    Instant from = TEN_DAYS.begin(7).plusMillis(5);

    assertThat(TEN_DAYS.newestFirst(from, TEN_DAYS.begin(10).plusMillis(1)))
        .containsExactly(10L, 9L, 8L, 7L);
    assertThat(TEN_DAYS.newestFirst(from, TEN_DAYS.begin(10))).containsExactly(9L, 8L, 7L);
    assertThat(TEN_DAYS.newestFirst(from, from.plusNanos(1))).containsExactly(7L);
    assertThat(TEN_DAYS.count(from, TEN_DAYS.begin(10))).isEqualTo(3);
  }

  @Test
  void anEmptySpanTouchesNoBucket() {
    assertThat(TEN_DAYS.newestFirst(EPOCH, EPOCH)).isEmpty();
    assertThat(TEN_DAYS.count(EPOCH.plusMillis(1), EPOCH)).isZero();
  }

  @Test
  void aBucketWithoutLengthIsRefused() {
    assertThatThrownBy(() -> new TimeBuckets(0, 0)).hasMessageContaining("1 ms at least");
  }
}
