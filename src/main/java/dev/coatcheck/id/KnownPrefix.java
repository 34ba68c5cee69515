package dev.coatcheck.id;

import org.jspecify.annotations.Nullable;

/**
 * A prefix with what it adds to the check sum, kept because the types in use are few: most texts
 * start with a prefix seen before, and then need neither the check nor the copy.
 */
record KnownPrefix(Prefix prefix, int checkSum) {
  private static final int RECENT_MAX = 64;

  // Threads race harmlessly: whatever is in a slot is a prefix and its sum.
  private static final @Nullable KnownPrefix[] RECENT = new KnownPrefix[RECENT_MAX];

  /** The prefix that the first {@code end} characters are, at least one, or null. */
  static @Nullable KnownPrefix startOf(String text, int end) {
    int slot = (31 * text.charAt(0) + 7 * text.charAt(end - 1) + end) % RECENT_MAX;
    KnownPrefix recent = RECENT[slot];
    if (recent != null && recent.isStartOf(text, end)) {
      return recent;
    }
    if (Prefix.offenceAt(text, end) >= 0) {
      return null;
    }
    Prefix prefix = new Prefix(text.substring(0, end));
    KnownPrefix known = new KnownPrefix(prefix, CheckCharacters.sumOf(prefix));
    RECENT[slot] = known;
    return known;
  }

  private boolean isStartOf(String text, int end) {
    return prefix.value().length() == end && text.startsWith(prefix.value());
  }
}
