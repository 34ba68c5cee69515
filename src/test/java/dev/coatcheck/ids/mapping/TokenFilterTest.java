package dev.coatcheck.ids.mapping;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.core.id.Token;
import java.util.Random;
import org.junit.jupiter.api.Test;

class TokenFilterTest {
  private static final int TOKENS = 20_000;

  @Test
  void itHoldsAllThatWasAddedAndFewOthers() {
    TokenFilter filter = new TokenFilter(TOKENS);
    Random random = new Random(5);
    for (int i = 0; i < TOKENS; i++) {
      filter.add(new Token(random.nextLong(), random.nextLong()));
    }
    assertThat(filter.isFull()).isFalse();
    Random again = new Random(5);
    for (int i = 0; i < TOKENS; i++) {
      assertThat(filter.mayHold(new Token(again.nextLong(), again.nextLong()))).isTrue();
    }
    int wrong = 0;
    for (int i = 0; i < 100_000; i++) {
      wrong += filter.mayHold(new Token(random.nextLong(), random.nextLong())) ? 1 : 0;
    }
    assertThat(wrong).isLessThan(1_000); // 1 %
  }

  @Test
  void itSaysWhenItHoldsTooMany() {
    TokenFilter filter = new TokenFilter(10);
    for (int i = 0; i < 10; i++) {
      filter.add(new Token(i, i));
      filter.add(new Token(i, i)); // the same counts once
    }
    assertThat(filter.isFull()).isFalse();
    Random random = new Random(6);
    for (int i = 0; i < 5; i++) {
      filter.add(new Token(random.nextLong(), random.nextLong()));
    }
    assertThat(filter.isFull()).isTrue();
  }

  @Test
  void tenMillionTakeSixteenMegabytes() {
    assertThat(new TokenFilter(10_240_000).bytes()).isEqualTo(16 << 20);
  }
}
