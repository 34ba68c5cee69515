package dev.coatcheck.core.id;

/** The 24 characters after the underscore, eight per long: 22 of payload, 2 check characters. */
record EncodedPayload(long first, long second, long third) {
  static final int LENGTH = 24;
  static final int PAYLOAD_LENGTH = 22;

  private static final int CHECK_VALUES = 62 * 62;

  // 2^128 - 1 is encoded as 7n42DGM5 Tflk9n8m t7Fhc7.
  private static final long FIRST_MAX = 0x376e_3432_4447_4d35L;
  private static final long SECOND_MAX = 0x5466_6c6b_396e_386dL;
  private static final long THIRD_MAX = 0x7437_4668_6337L;

  static EncodedPayload read(byte[] text, int at) {
    return new EncodedPayload(
        PackedChars.read(text, at),
        PackedChars.read(text, at + 8),
        PackedChars.read(text, at + 16));
  }

  void write(byte[] text, int at) {
    PackedChars.write(first, text, at);
    PackedChars.write(second, text, at + 8);
    PackedChars.write(third, text, at + 16);
  }

  boolean isBase62() {
    return (PackedChars.misfits(first) | PackedChars.misfits(second) | PackedChars.misfits(third))
        == 0;
  }

  /** Whether the base62 payload exceeds 2^128 - 1. Its byte order is its numeric order. */
  boolean overflows() {
    if (first != FIRST_MAX) {
      return first > FIRST_MAX;
    }
    return second > SECOND_MAX || (second == SECOND_MAX && third >>> 16 > THIRD_MAX);
  }

  /** The index of the first character that makes the payload exceed 2^128 - 1. */
  int overflowIndex() {
    if (first != FIRST_MAX) {
      return differenceIndex(first, FIRST_MAX);
    }
    return second != SECOND_MAX
        ? 8 + differenceIndex(second, SECOND_MAX)
        : 16 + differenceIndex(third, THIRD_MAX << 16);
  }

  /** The value of the check characters, which must be base62. */
  int check() {
    return (int) (PackedChars.value(third) % CHECK_VALUES);
  }

  EncodedPayload withCheck(int value) {
    return new EncodedPayload(first, second, third | Base62.pair(value));
  }

  private static int differenceIndex(long one, long other) {
    return Long.numberOfLeadingZeros(one ^ other) / 8;
  }
}
