package dev.coatcheck.core.key;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class KeyRunTest {
  private static final SnowflakeLayout SECONDS =
      SnowflakeLayout.accepted("29x1000/21/13@1463673600000");

  private long nano;
  private long taken;

  private final Waiter waiter =
      new Waiter() {
        @Override
        public long nanoTime() {
          return nano;
        }

        @Override
        public void pause(long nanos) {
          nano += nanos;
        }
      };

  /** Other draws leave one key of each second. */
  private KeyRun oneOfEachSecond() {
    long second = TimeUnit.NANOSECONDS.toSeconds(nano);
    return second < taken
        ? new KeyRun.Wait("taken", 1_000)
        : new KeyRun.Some(new Positions.Run(taken++ << SECONDS.sequenceBits(), 1), 7);
  }

  @Test
  void aDrawThatHasSomeOfItsKeysWaitsForTheNextTickAndThreeSecondsInAll() {
    assertThat(KeyRun.draw(3, SECONDS, _ -> oneOfEachSecond(), waiter))
        .isInstanceOf(KeyDraw.Drawn.class);

    nano = TimeUnit.SECONDS.toNanos(taken);
    long begun = nano;
    assertThat(KeyRun.draw(10, SECONDS, _ -> oneOfEachSecond(), waiter))
        .isEqualTo(new KeyDraw.Refused("taken", 1_000));
    assertThat(nano - begun)
        .isBetween(KeyRun.DRAW_NANOS_MAX, KeyRun.DRAW_NANOS_MAX + KeyRun.PAUSE_NANOS);
  }

  @Test
  void onlyConsecutiveNumbersAreContiguous() {
    assertThat(drawn(7, 8, 9).contiguous()).isTrue();
    assertThat(drawn(7, 8, 10).contiguous()).isFalse();
  }

  private static KeyDraw.Drawn drawn(long... keys) {
    return new KeyDraw.Drawn(LongStream.of(keys).<Key>mapToObj(Key.Bigint::new).toList());
  }

  @ParameterizedTest
  @ValueSource(ints = {0, -1, 16_385})
  void countsOutOfRangeAreRefused(int count) {
    assertThatThrownBy(() -> KeyRun.draw(count, SECONDS, _ -> oneOfEachSecond(), waiter))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
