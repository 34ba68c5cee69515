package dev.coatcheck.core.id;

import org.jspecify.annotations.Nullable;

/**
 * A cached prefix and its share of the check sum. Few types are in use, so most texts start with a
 * cached prefix, which then needs neither a check nor a copy.
 *
 * @param head the first eight characters, or all if the prefix is shorter, in the low bytes
 * @param length distinguishes a short prefix from the same prefix followed by NUL characters
 */
record KnownPrefix(Prefix prefix, long head, int length, int checkSum) {
  private static final int RECENT_BITS = 6;

  // Races between threads are harmless: each slot always holds a complete, immutable entry.
  private static final @Nullable KnownPrefix[] RECENT = new KnownPrefix[1 << RECENT_BITS];

  /** An odd number near 2^64 divided by the golden ratio. It spreads the heads over the slots. */
  private static final long SCATTER = 0x9e37_79b9_7f4a_7c15L;

  /**
   * The prefix that consists of the first {@code end} characters, at least one, or null.
   *
   * @param bytes the bytes of the text, at least eight, with a question mark for each character
   *     that is not ISO 8859-1
   */
  static @Nullable KnownPrefix startOf(String text, byte[] bytes, int end) {
    long head = PackedChars.read(bytes, 0) >>> (8 * Math.max(0, 8 - end));
    int slot = (int) ((head * SCATTER) >>> (64 - RECENT_BITS));
    KnownPrefix recent = RECENT[slot];
    if (recent != null && recent.isStartOf(text, head, end)) {
      return recent;
    }
    if (Prefix.offenceAt(text, end) >= 0) {
      return null;
    }
    Prefix prefix = new Prefix(text.substring(0, end));
    KnownPrefix known = new KnownPrefix(prefix, head, end, CheckCharacters.sumOf(prefix));
    RECENT[slot] = known;
    return known;
  }

  private boolean isStartOf(String text, long textHead, int end) {
    return head == textHead && length == end && (end <= 8 || text.startsWith(prefix.value()));
  }
}
