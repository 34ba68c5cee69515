package dev.coatcheck.core.seal;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Random;
import org.bouncycastle.crypto.macs.SipHash;
import org.bouncycastle.crypto.params.KeyParameter;
import org.junit.jupiter.api.Test;

class SealBenchmarkTest {
  @Test
  void eachOfThemGivesTheKeysBack() {
    assertThat(new SealBenchmark().givesAllBack()).isTrue();
  }

  /** Against an implementation of another library. */
  @Test
  void theMaskOfUuidV47IsSipHash() {
    Random random = new Random(3);
    for (int i = 0; i < 100; i++) {
      byte[] key = new byte[16];
      byte[] message = new byte[10];
      random.nextBytes(key);
      random.nextBytes(message);
      SipHash other = new SipHash();
      other.init(new KeyParameter(key));
      other.update(message, 0, message.length);
      ByteBuffer halves = ByteBuffer.wrap(key).order(ByteOrder.LITTLE_ENDIAN);
      ByteBuffer words = ByteBuffer.allocate(16).order(ByteOrder.LITTLE_ENDIAN).put(0, message);
      assertThat(
              new Uuid47(halves.getLong(), halves.getLong())
                  .sipHash(words.getLong(0), words.getLong(8) | (long) message.length << 56))
          .isEqualTo(other.doFinal());
    }
  }
}
