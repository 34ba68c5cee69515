package dev.coatcheck.core.id;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.HashSet;
import java.util.Set;
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
