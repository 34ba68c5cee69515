package dev.coatcheck.core.id;

import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;

/**
 * Generates test values from a seed. A failing check names the seed; {@code -Dseed=…} repeats it.
 */
final class SeededRandom {
  private static final String BASE62 =
      "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  private static final String HOSTILE =
      "_-.:/@[`{ \t\r\n"
          + "\0%\u00a0\u00ad\u0170\u017f\u0301\u043e\u200b\u212a\uff10\uff3f\ufeff\ud835\udfdc";
  private static final long[] EDGES = {
    0, 1, 61, 62, 1023, 1024, Long.MAX_VALUE, Long.MIN_VALUE, -1
  };

  private final RandomGenerator random;

  private SeededRandom(long seed) {
    this.random = RandomGeneratorFactory.of("L64X128MixRandom").create(seed);
  }

  /** Runs the property this many times. */
  static void check(int times, Property property) {
    long seed = Long.getLong("seed", System.nanoTime());
    SeededRandom random = new SeededRandom(seed);
    for (int i = 0; i < times; i++) {
      try {
        property.holdsFor(random);
      } catch (AssertionError | RuntimeException e) {
        throw new AssertionError("round " + i + " fails with -Dseed=" + seed, e);
      }
    }
  }

  /** Something that is true of all values. */
  interface Property {
    void holdsFor(SeededRandom random);
  }

  int below(int bound) {
    return random.nextInt(bound);
  }

  /** Any, and the edges more often. */
  Token token() {
    return new Token(word(), word());
  }

  PublicId publicId() {
    return new PublicId(prefix(), token());
  }

  Prefix prefix() {
    StringBuilder text = new StringBuilder().append((char) ('a' + below(26)));
    int length = 1 + below(32);
    while (text.length() < length) {
      boolean part = text.length() + 1 < length && below(6) == 0;
      text.append(part ? "_" : "").append("abcxyz0189".charAt(below(10)));
    }
    return new Prefix(text.toString());
  }

  char base62() {
    return BASE62.charAt(below(BASE62.length()));
  }

  /** A character that could stand in an attack or a slip of the pen. */
  char anyCharacter() {
    return switch (below(4)) {
      case 0, 1 -> base62();
      case 2 -> HOSTILE.charAt(below(HOSTILE.length()));
      default -> (char) below(Character.MAX_VALUE + 1);
    };
  }

  private long word() {
    return below(4) == 0 ? EDGES[below(EDGES.length)] : random.nextLong();
  }
}
