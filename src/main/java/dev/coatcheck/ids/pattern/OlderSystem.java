package dev.coatcheck.ids.pattern;

/** The public IDs that a type had in an older system. */
public sealed interface OlderSystem permits PublicPattern, PublicRule {
  /** The greatest length of such a public ID. */
  int LENGTH_MAX = 255;

  /** The greatest length of a fixed text in front. */
  int TEXT_PREFIX_LENGTH_MAX = 64;

  /** Whether all of them may begin with the text: up to 64 visible ASCII characters, or none. */
  static boolean isTextPrefix(String text) {
    return text.length() <= TEXT_PREFIX_LENGTH_MAX
        && text.chars().allMatch(c -> c >= '!' && c <= '~');
  }

  /** A shape that all of them have. */
  TextShape shape();
}
