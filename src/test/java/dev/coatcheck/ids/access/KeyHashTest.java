package dev.coatcheck.ids.access;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.core.id.Sha256;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class KeyHashTest {
  @Test
  void hashesThatDifferInOneBitDontMatch() {
    byte[] digest = Sha256.of("secret");
    KeyHash hash = KeyHash.of(digest);
    assertThat(hash.matches(KeyHash.of(digest.clone()))).isTrue();
    assertThat(hash.bytes()).isEqualTo(digest);

    assertThat(IntStream.range(0, 256))
        .allSatisfy(
            bit -> {
              byte[] other = digest.clone();
              other[bit / 8] ^= (byte) (1 << bit % 8);
              assertThat(hash.matches(KeyHash.of(other))).isFalse();
            });
  }
}
