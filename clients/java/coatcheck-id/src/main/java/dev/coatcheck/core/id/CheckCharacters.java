package dev.coatcheck.core.id;

/**
 * The two characters at the end of a public ID: {@code Σ weight(i) · byte(i) mod 3833} over {@code
 * prefix_payload}, where weights count from the right, starting at 1.
 *
 * <p>3833 is the largest prime below 62². Every weight and every difference of two characters is
 * smaller, so no product of a weight and a difference is a multiple of 3833. Therefore every
 * substitution of one character and every swap of two characters is detected. This argument does
 * not cover a swap of a payload character with a check character; all of those were tried. The
 * check detects typing errors. It is not a secret.
 */
final class CheckCharacters {
  private static final int MODULUS = 3833;

  // The weights 22 to 1 of the payload and 0 of the check characters, in the order of PackedChars.
  private static final long FIRST_ODD = 0x0010_0012_0014_0016L;
  private static final long FIRST_EVEN = 0x000f_0011_0013_0015L;
  private static final long SECOND_ODD = 0x0008_000a_000c_000eL;
  private static final long SECOND_EVEN = 0x0007_0009_000b_000dL;
  private static final long THIRD_ODD = 0x0000_0002_0004_0006L;
  private static final long THIRD_EVEN = 0x0000_0001_0003_0005L;

  private CheckCharacters() {}

  /** What the prefix and the underscore add to the sum for every payload. */
  static int sumOf(Prefix prefix) {
    String text = prefix.value();
    int sum = 0;
    int weighted = 0;
    for (int i = 0; i < text.length(); i++) {
      sum += text.charAt(i);
      weighted += sum; // each character counts once per character from it to the end
    }
    sum += '_';
    return weighted + sum + EncodedPayload.PAYLOAD_LENGTH * sum;
  }

  /** The check value, below 62². Ignores the check characters that the payload may already have. */
  static int valueOf(int prefixSum, EncodedPayload body) {
    long weighted =
        PackedChars.weighted(body.first(), FIRST_ODD, FIRST_EVEN)
            + PackedChars.weighted(body.second(), SECOND_ODD, SECOND_EVEN)
            + PackedChars.weighted(body.third(), THIRD_ODD, THIRD_EVEN);
    return (prefixSum + (int) (weighted >>> 48)) % MODULUS;
  }
}
