package dev.coatcheck.core.id;

import static org.assertj.core.api.Assertions.assertThat;

import java.math.BigInteger;
import org.junit.jupiter.api.Test;

final class TokenTest {
  @Test
  void tokensKeepTheirBitsAsUuidAndAsBytes() {
    SeededRandom.check(
        10_000,
        random -> {
          Token token = random.token();
          assertThat(Token.of(token.toUuid())).isEqualTo(token);
          assertThat(unsigned(token)).isEqualTo(new BigInteger(token.toString(), 16));
        });
  }

  @Test
  void tokensAreOrderedAsUnsignedNumbers() {
    SeededRandom.check(
        10_000,
        random -> {
          Token one = random.token();
          Token other = random.below(4) == 0 ? one : random.token();
          assertThat(Integer.signum(one.compareTo(other)))
              .isEqualTo(unsigned(one).compareTo(unsigned(other)));
        });
  }

  @Test
  void theBucketIsTheLowestTenBits() {
    assertThat(new Token(-1, -1).bucket()).isEqualTo(1023);
    assertThat(new Token(-1, -1024).bucket()).isZero();
    assertThat(new Token(0, 0x1_0000_0000_0007L).bucket()).isEqualTo(7);
  }

  private static BigInteger unsigned(Token token) {
    return new BigInteger(1, token.toBytes());
  }
}
