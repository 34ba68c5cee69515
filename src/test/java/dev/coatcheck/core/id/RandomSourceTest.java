package dev.coatcheck.core.id;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class RandomSourceTest {
  private final RandomSource random = new RandomSource();
  private final TokenSource tokens = new TokenSource(random);

  @Test
  void tokensCarryTheirBucket() {
    for (int bucket = 0; bucket <= 1023; bucket++) {
      assertThat(tokens.next(bucket).bucket()).isEqualTo(bucket);
    }
  }

  @Test
  void bucketsThatDoNotExistAreRefused() {
    assertThatIllegalArgumentException().isThrownBy(() -> tokens.next(-1));
    assertThatIllegalArgumentException().isThrownBy(() -> tokens.next(1024));
  }

  @Test
  void eachOfThe118BitsIsSetHalfOfTheTime() {
    int draws = 40_000;
    int[] set = new int[128];
    for (int i = 0; i < draws; i++) {
      Token token = tokens.next(0);
      for (int bit = 0; bit < 64; bit++) {
        set[bit] += (int) (token.low() >>> bit & 1);
        set[64 + bit] += (int) (token.high() >>> bit & 1);
      }
    }
    // Seven standard deviations of 100: a sound source fails once in a thousand million runs.
    for (int bit = 10; bit < 128; bit++) {
      assertThat(set[bit]).as("bit %d", bit).isBetween(19_300, 20_700);
    }
  }

  @Test
  void manyVirtualThreadsDrawNoTokenTwice() {
    int threads = 2_000;
    int drawsPerThread = 200;
    Set<Token> drawn = ConcurrentHashMap.newKeySet(threads * drawsPerThread);
    try (ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int i = 0; i < threads; i++) {
        executor.execute(
            () -> {
              for (int n = 0; n < drawsPerThread; n++) {
                drawn.add(tokens.next(5));
              }
            });
      }
    }

    assertThat(drawn).hasSize(threads * drawsPerThread);
  }

  @Test
  void longsLeftOverByOddFillsAreNotRepeated() {
    Set<Long> drawn = new HashSet<>();
    byte[] odd = new byte[3];
    int draws = 20_000;
    for (int i = 0; i < draws; i++) {
      random.fill(odd);
      drawn.add(random.nextLong());
    }

    assertThat(drawn).hasSize(draws);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 15, 16, 8191, 8192, 8193, 100_000})
  void arraysAreFilledToTheEnd(int length) {
    boolean[] touched = new boolean[length];
    byte[] bytes = new byte[length];
    for (int round = 0; round < 30; round++) {
      random.fill(bytes);
      for (int i = 0; i < length; i++) {
        touched[i] |= bytes[i] != 0;
      }
    }

    assertThat(touched).doesNotContain(false);
  }

  @Test
  void twoSourcesGiveDifferentBits() {
    assertThat(new RandomSource().nextLong()).isNotEqualTo(new RandomSource().nextLong());
  }
}
