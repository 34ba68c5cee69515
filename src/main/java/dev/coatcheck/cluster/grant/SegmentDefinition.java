package dev.coatcheck.cluster.grant;

import java.util.Optional;
import java.util.regex.Pattern;

/**
 * A counter of numbers: {@code start}, {@code start + stride} and so on, up to the greatest signed
 * number of 32 or 64 bits. Databases that count independently use the same stride and different
 * starts below it.
 *
 * @param stepMin the first and the smallest number of numbers in a grant
 * @param stepMax the largest, unless a call asks for more
 */
public record SegmentDefinition(
    String tag, long start, long stride, int bits, int stepMin, int stepMax) {
  public static final int STEP_MIN_DEFAULT = 1_000;
  public static final int STEP_MAX_DEFAULT = 100_000;

  /** The largest step, and the largest stride. */
  public static final int STEP_LIMIT = 1_000_000;

  private static final Pattern TAG = Pattern.compile("[a-z][a-z0-9_]{0,62}");

  /** Whether the text can name a segment: a lower-case letter, then up to 62 of a-z, 0-9 and _. */
  public static boolean isTag(String text) {
    return TAG.matcher(text).matches();
  }

  /** The first error: a field of the request, and a sentence. */
  public Optional<Flaw> flaw() {
    if (bits != Integer.SIZE && bits != Long.SIZE) {
      return Optional.of(new Flaw("bits", "This must be 32 or 64."));
    }
    if (start < 1 || start > numberMax()) {
      return Optional.of(new Flaw("start", "This must be from 1 to " + numberMax() + "."));
    }
    if (stride < 1 || stride > STEP_LIMIT) {
      return Optional.of(new Flaw("stride", "This must be from 1 to " + STEP_LIMIT + "."));
    }
    if (stepMin < 1 || stepMin > stepMax || stepMax > STEP_LIMIT) {
      return Optional.of(new Flaw("step_max", "Steps are from 1 to " + STEP_LIMIT + ", and rise."));
    }
    return Optional.empty();
  }

  /** An error in a definition. */
  public record Flaw(String field, String sentence) {}

  private long numberMax() {
    return bits == Integer.SIZE ? Integer.MAX_VALUE : Long.MAX_VALUE;
  }

  /** How many numbers the counter has. */
  long size() {
    return (numberMax() - start) / stride + 1;
  }
}
