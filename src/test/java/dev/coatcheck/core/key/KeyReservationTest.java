package dev.coatcheck.core.key;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class KeyReservationTest {
  private static final SnowflakeLayout SECONDS =
      SnowflakeLayout.accepted("29x1000/21/13@1463673600000");

  private long nano;
  private long taken;
  private int asked;

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
  private KeyReservation oneOfEachSecond() {
    long second = TimeUnit.NANOSECONDS.toSeconds(nano);
    return second < taken
        ? new KeyReservation.Wait("taken", 1_000)
        : new KeyReservation.Some(new Positions.Run(taken++ << SECONDS.sequenceBits(), 1), 7);
  }

  @Test
  void aDrawThatHasSomeOfItsKeysWaitsForTheNextTickAndThreeSecondsInAll() {
    assertThat(KeyReservation.draw(3, SECONDS, _ -> oneOfEachSecond(), waiter))
        .isInstanceOf(KeyOutcome.Drawn.class);

    nano = TimeUnit.SECONDS.toNanos(taken);
    long begun = nano;
    assertThat(KeyReservation.draw(10, SECONDS, _ -> oneOfEachSecond(), waiter))
        .isEqualTo(new KeyOutcome.Refused("taken", 1_000));
    assertThat(nano - begun)
        .isBetween(
            KeyReservation.DRAW_NANOS_MAX,
            KeyReservation.DRAW_NANOS_MAX + KeyReservation.PAUSE_NANOS);
  }

  @Test
  void aThreadThatIsInterruptedDoesNotWait() {
    Thread.currentThread().interrupt();

    assertThat(
            KeyReservation.draw(
                2,
                SECONDS,
                _ -> {
                  asked++;
                  return new KeyReservation.Wait("taken", 1_000);
                },
                Waiter.PARKING))
        .isEqualTo(new KeyOutcome.Refused("taken", 1_000));

    assertThat(Thread.interrupted()).isTrue();
    assertThat(asked).isLessThan(5);
  }

  @Test
  void onlyConsecutiveNumbersAreContiguous() {
    assertThat(drawn(7, 8, 9).contiguous()).isTrue();
    assertThat(drawn(7, 8, 10).contiguous()).isFalse();
  }

  private static KeyOutcome.Drawn drawn(long... keys) {
    return new KeyOutcome.Drawn(LongStream.of(keys).<Key>mapToObj(Key.Bigint::new).toList());
  }

  @ParameterizedTest
  @ValueSource(ints = {0, -1, 16_385})
  void countsOutOfRangeAreRefused(int count) {
    assertThatThrownBy(() -> KeyReservation.draw(count, SECONDS, _ -> oneOfEachSecond(), waiter))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
