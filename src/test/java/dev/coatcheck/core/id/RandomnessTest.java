package dev.coatcheck.core.id;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Tokens are random; and each check of that finds the defect that it is there for. */
final class RandomnessTest {
  private static final int TOKENS = 1 << 16;

  /** Beyond the 512 tokens of a buffer. */
  private static final int LAGS = 1_100;

  /** Enough for every stripe, as ids of threads are mostly consecutive. */
  private static final int THREADS = 64;

  private static final int LONGS_PER_THREAD = 1 << 10;

  @Test
  void tokensAreRandom() {
    List<Token> tokens = tokens(new TokenSource(new RandomSource())::next);

    assertThat(Randomness.ofBits(tokens)).isLessThan(Randomness.MAX);
    assertThat(Randomness.ofLags(tokens, LAGS)).isLessThan(Randomness.MAX);
  }

  @Test
  void threadsDrawNoLongTwice() throws InterruptedException {
    assertThat(Randomness.repeated(longsOfManyThreads(new RandomSource()))).isZero();
  }

  /** Set in 53 of 100 tokens: less is not found in one of some hundred runs. */
  @Test
  void aBitThatIsHardlyBiasedIsFound() {
    TokenSource sound = new TokenSource(new RandomSource());
    int[] drawn = {0};
    List<Token> biased =
        tokens(
            bucket -> {
              Token token = sound.next(bucket);
              long set = drawn[0]++ % 16 == 0 ? 1 : 0;
              return new Token(token.high() | set, token.low());
            });

    assertThat(Randomness.ofBits(biased)).isGreaterThan(Randomness.MAX);
  }

  /** Of the 256 bytes the remainders 0 to 7 come from five each, the others from four. */
  @Test
  void theRemainderOfAByteIsFound() {
    RandomSource random = new RandomSource();
    byte[] bytes = new byte[22];
    List<String> remainders =
        Stream.generate(
                () -> {
                  random.fill(bytes);
                  StringBuilder text = new StringBuilder();
                  for (byte each : bytes) {
                    text.append(Base62.encode(0, Byte.toUnsignedInt(each) % 62).charAt(21));
                  }
                  return text.toString();
                })
            .limit(TOKENS)
            .toList();

    assertThat(Randomness.ofCharacters(remainders)).isGreaterThan(Randomness.MAX);
  }

  @Test
  void aBufferThatRefillsWithTheSameBytesIsFound() {
    List<Token> repeating = tokens(new TokenSource(new RandomSource(new Seeds(2)))::next);

    assertThat(Randomness.ofLags(repeating, LAGS)).isGreaterThan(Randomness.MAX);
  }

  @Test
  void stripesWithTheSameStreamAreFound() throws InterruptedException {
    assertThat(Randomness.repeated(longsOfManyThreads(new RandomSource(new Seeds(2)))))
        .isPositive();
  }

  /** Gives each key a number of times, as a broken seed would. */
  private static final class Seeds extends SecureRandom {
    private final int times;
    private long calls;

    Seeds(int times) {
      this.times = times;
    }

    @Override
    public synchronized void nextBytes(byte[] key) {
      ByteBuffer.wrap(key).putLong(calls++ / times);
    }
  }

  private static List<Token> tokens(IntFunction<Token> source) {
    return IntStream.range(0, TOKENS).mapToObj(i -> source.apply(i & Bucket.MAX)).toList();
  }

  private static List<Long> longsOfManyThreads(RandomSource source) throws InterruptedException {
    List<Long> drawn = Collections.synchronizedList(new ArrayList<>());
    List<Thread> threads =
        IntStream.range(0, THREADS)
            .mapToObj(
                _ ->
                    Thread.ofVirtual()
                        .start(
                            () -> {
                              for (int n = 0; n < LONGS_PER_THREAD; n++) {
                                drawn.add(source.nextLong());
                              }
                            }))
            .toList();
    for (Thread thread : threads) {
      thread.join();
    }
    return drawn;
  }
}
