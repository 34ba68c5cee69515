package dev.coatcheck.core.id;

import java.math.BigInteger;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * How improbable random values are, if each of them were as probable as any other. Every figure is
 * the decimal exponent of a bound: values with the figure 13 come from a sound source less than
 * once in 10^13 times. So sound sources stay far below {@link #MAX}, whatever is drawn, and a
 * defect that matters is hundreds of times above.
 */
public final class Randomness {
  /** With 1,500 figures a run, a sound source fails in less than one of 10^9 runs. */
  public static final double MAX = 13;

  private static final String ALPHABET =
      "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  private static final int TOKEN_BITS = 128;
  private static final int RANDOM_BITS = 118;
  private static final int CHARACTERS = 22;
  private static final int LAG_TOKENS = 1 << 13;

  private Randomness() {}

  /** Whether each random bit is set half of the time: the figure of the worst bit. */
  static double ofBits(List<Token> tokens) {
    int[] set = new int[TOKEN_BITS];
    for (Token token : tokens) {
      for (int bit = 0; bit < Long.SIZE; bit++) {
        set[bit] += (int) (token.low() >>> bit & 1);
        set[Long.SIZE + bit] += (int) (token.high() >>> bit & 1);
      }
    }
    return Arrays.stream(set)
        .skip(TOKEN_BITS - RANDOM_BITS)
        .mapToDouble(count -> ofCoins(count, tokens.size()))
        .max()
        .orElseThrow();
  }

  /**
   * Whether tokens agree in half of their bits with the token drawn before, and so on to {@code
   * lagsMax} before: the figure of the worst lag, among the first {@value #LAG_TOKENS} tokens.
   */
  static double ofLags(List<Token> tokens, int lagsMax) {
    Token[] drawn = tokens.stream().limit(LAG_TOKENS).toArray(Token[]::new);
    return IntStream.rangeClosed(1, lagsMax)
        .mapToDouble(
            lag -> {
              long differing = 0;
              for (int i = lag; i < drawn.length; i++) {
                differing += Long.bitCount(drawn[i].high() ^ drawn[i - lag].high());
                differing += Long.bitCount((drawn[i].low() ^ drawn[i - lag].low()) & ~Bucket.MAX);
              }
              return ofCoins(differing, (long) (drawn.length - lag) * RANDOM_BITS);
            })
        .max()
        .orElseThrow();
  }

  /**
   * Whether each position of the texts of tokens has the characters that uniform numbers below
   * 2^128 have there: the figure of the worst position. The tokens' buckets are uniform as well.
   */
  static double ofTokenCharacters(List<String> texts) {
    return IntStream.range(0, CHARACTERS)
        .mapToDouble(position -> ofCharacters(texts, position, shares(position)))
        .max()
        .orElseThrow();
  }

  /** As above, for texts in which every base62 character is as probable at any position. */
  public static double ofCharacters(List<String> texts) {
    double[] shares = new double[ALPHABET.length()];
    Arrays.fill(shares, 1.0 / shares.length);
    return IntStream.range(0, texts.getFirst().length())
        .mapToDouble(position -> ofCharacters(texts, position, shares))
        .max()
        .orElseThrow();
  }

  /** How many were drawn before. Of 65,536 sound ones any is, in one of 8 · 10^9 runs. */
  static int repeated(List<Long> drawn) {
    Set<Long> distinct = new HashSet<>(drawn);
    return drawn.size() - distinct.size();
  }

  /** Pearson's chi-square. */
  private static double ofCharacters(List<String> texts, int position, double[] shares) {
    int[] counts = new int[shares.length];
    texts.forEach(text -> counts[ALPHABET.indexOf(text.charAt(position))]++);
    double sum = 0;
    int possible = 0;
    for (int i = 0; i < shares.length; i++) {
      double expected = shares[i] * texts.size();
      if (shares[i] > 0) {
        possible++;
        sum += (counts[i] - expected) * (counts[i] - expected) / expected;
      } else if (counts[i] > 0) {
        return Double.POSITIVE_INFINITY;
      }
    }
    return ofChiSquare(sum, possible - 1);
  }

  /** Of each character at this position, over all numbers below 2^128. */
  private static double[] shares(int position) {
    BigInteger all = BigInteger.TWO.pow(TOKEN_BITS);
    BigInteger base = BigInteger.valueOf(ALPHABET.length());
    BigInteger value = base.pow(CHARACTERS - 1 - position);
    BigInteger[] cycles = all.divideAndRemainder(value.multiply(base));
    return IntStream.range(0, ALPHABET.length())
        .mapToObj(
            digit ->
                cycles[1]
                    .subtract(value.multiply(BigInteger.valueOf(digit)))
                    .max(BigInteger.ZERO)
                    .min(value)
                    .add(cycles[0].multiply(value)))
        .mapToDouble(numbers -> numbers.doubleValue() / all.doubleValue())
        .toArray();
  }

  /** Hoeffding's inequality: P(|heads - n/2| ≥ t) ≤ 2 exp(-2t²/n). */
  private static double ofCoins(long heads, long coins) {
    double off = heads - coins / 2.0;
    return 2 * off * off / coins / Math.log(10) - Math.log10(2);
  }

  /** Chernoff's bound: P(X ≥ xk) ≤ (x exp(1 - x))^(k/2) for k degrees of freedom and x above 1. */
  private static double ofChiSquare(double sum, int degrees) {
    double x = Math.max(1, sum / degrees);
    return degrees / 2.0 * (x - 1 - Math.log(x)) / Math.log(10);
  }
}
