package dev.coatcheck.core.id;

import org.jspecify.annotations.Nullable;

/**
 * A cached prefix with its share of the check sum. Few types are in use, so most texts start with a
 * cached prefix and need neither its check nor its copy.
 *
 * @param head the first eight characters, or all if they are fewer, at the lower end
 * @param length what tells a short prefix from the same one after NUL characters
 */
record KnownPrefix(Prefix prefix, long head, int length, int checkSum) {
  private static final int RECENT_BITS = 6;

  // Threads race harmlessly: whatever is in a slot is a prefix with its own numbers.
  private static final @Nullable KnownPrefix[] RECENT = new KnownPrefix[1 << RECENT_BITS];

  /** An odd number near 2^64 divided by the golden ratio, which scatters the heads. */
  private static final long SCATTER = 0x9e37_79b9_7f4a_7c15L;

  /**
   * The prefix that the first {@code end} characters are, at least one, or null.
   *
   * @param bytes the text's, at least eight, with a question mark for what is not ISO 8859-1
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
