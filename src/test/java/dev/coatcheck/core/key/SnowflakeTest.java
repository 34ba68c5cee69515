package dev.coatcheck.core.key;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SnowflakeTest {
  private static final long START = 1_780_000_000_000L;

  private final AtomicLong nanos = new AtomicLong();
  private final AtomicLong offsetMillis = new AtomicLong(START);
  private final Waiter waiter =
      new Waiter() {
        @Override
        public long nanoTime() {
          return nanos.get();
        }

        @Override
        public void pause(long pausedNanos) {
          nanos.addAndGet(pausedNanos);
        }
      };
  private final Snowflake snowflake =
      new Snowflake(
          SnowflakeLayout.DEFAULT,
          7,
          ClockPolicy.THREE_TIERS,
          () -> offsetMillis.get() + nanos.get() / 1_000_000,
          waiter);

  @Test
  void aMillionKeysOnFourThreadsAreUniqueAndRise() throws Exception {
    Snowflake real = new Snowflake(SnowflakeLayout.DEFAULT, 7);
    long[] all = new long[1_048_576];
    try (ExecutorService threads = Executors.newFixedThreadPool(4)) {
      List<Future<?>> running = new ArrayList<>();
      for (int thread = 0; thread < 4; thread++) {
        int from = thread * all.length / 4;
        running.add(threads.submit(() -> fill(real, all, from, all.length / 4)));
      }
      for (Future<?> future : running) {
        future.get();
      }
    }
    Arrays.sort(all);
    for (int i = 1; i < all.length; i++) {
      assertThat(all[i]).isNotEqualTo(all[i - 1]);
    }
  }

  private static void fill(Snowflake snowflake, long[] keys, int from, int count) {
    long previous = -1;
    for (int done = 0; done < count; ) {
      int part = Math.min(count - done, 1 + done % 4_000);
      if (snowflake.next(part) instanceof KeyDraw.Drawn(List<Key> drawn)) {
        for (Key key : drawn) {
          long value = ((Key.Bigint) key).value();
          assertThat(value > previous).isTrue();
          previous = value;
          keys[from + done++] = value;
        }
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0, -1, 16_385, Integer.MAX_VALUE, Integer.MIN_VALUE})
  void countsOutOfRangeAreRefused(int count) {
    assertThatThrownBy(() -> snowflake.next(count)).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void aSmallStepBackWaitsForTheClock() {
    long before = last(snowflake.next(1));
    offsetMillis.addAndGet(-5);
    long after = last(snowflake.next(1));
    assertThat(after).isGreaterThan(before);
    assertThat(nanos.get()).isBetween(4_000_000L, 6_000_000L);
  }

  @Test
  void aMiddlingStepBackGoesOnWithoutWaiting() {
    long before = last(snowflake.next(1));
    offsetMillis.addAndGet(-2_000);
    for (int i = 0; i < 100; i++) {
      long after = last(snowflake.next(16_384));
      assertThat(after).isGreaterThan(before);
      before = after;
      offsetMillis.addAndGet(4);
    }
    assertThat(nanos.get()).isLessThan(5_000_000L);
  }

  @Test
  void aLargeStepBackIsRefusedWithItsSizeUntilTheClockIsNearAgain() {
    long before = last(snowflake.next(1));
    offsetMillis.addAndGet(-3_600_000);
    assertThat(snowflake.next(1))
        .isEqualTo(
            new KeyDraw.Refused(
                "the clock stepped back by 3600000 ms, more than 2000 ms", 3_598_000));
    offsetMillis.addAndGet(3_599_000);
    assertThat(last(snowflake.next(1))).isGreaterThan(before);
  }

  @Test
  void theFullCapacityOfEachMillisecondIsUsedAndNoMore() {
    long first = last(snowflake.next(1));
    for (int i = 0; i < 250; i++) {
      snowflake.next(16_384);
    }
    // 4,096,001 keys at 4,096 a millisecond.
    assertThat(nanos.get() / 1_000_000).isBetween(995L, 1_001L);
    assertThat(SnowflakeLayout.DEFAULT.workerOf(first)).isEqualTo(7);
  }

  @Test
  void aNarrowLayoutSplitsALargeDraw() {
    SnowflakeLayout narrow =
        ((LayoutParse.Known) SnowflakeLayout.parse("48/10/5@0", now())).layout();
    Snowflake slow =
        new Snowflake(
            narrow,
            1,
            ClockPolicy.THREE_TIERS,
            () -> offsetMillis.get() + nanos.get() / 1_000_000,
            waiter);
    assertThat(slow.next(16_384)).isInstanceOf(KeyDraw.Drawn.class);
  }

  @Test
  void aRunWithinOneMillisecondIsContiguous() {
    assertThat(((KeyDraw.Drawn) snowflake.next(100)).contiguous()).isTrue();
    assertThat(((KeyDraw.Drawn) snowflake.next(5_000)).contiguous()).isFalse();
  }

  private Instant now() {
    return Instant.ofEpochMilli(START);
  }

  private static long last(KeyDraw draw) {
    return ((Key.Bigint) ((KeyDraw.Drawn) draw).keys().getLast()).value();
  }
}
