package dev.coatcheck.core.id;

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
   * Whether each position of texts has every base62 character as often as any other: the figure of
   * the worst position, by Pearson's chi-square.
   */
  public static double ofCharacters(List<String> texts) {
    return IntStream.range(0, texts.getFirst().length())
        .mapToDouble(position -> ofCharacters(texts, position))
        .max()
        .orElseThrow();
  }

  /** How many were drawn before. Of 65,536 sound ones any is, in one of 8 · 10^9 runs. */
  static int repeated(List<Long> drawn) {
    Set<Long> distinct = new HashSet<>(drawn);
    return drawn.size() - distinct.size();
  }

  private static double ofCharacters(List<String> texts, int position) {
    int[] counts = new int[ALPHABET.length()];
    texts.forEach(text -> counts[ALPHABET.indexOf(text.charAt(position))]++);
    double expected = (double) texts.size() / counts.length;
    double sum =
        Arrays.stream(counts)
            .mapToDouble(count -> (count - expected) * (count - expected) / expected)
            .sum();
    return ofChiSquare(sum, counts.length - 1);
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
