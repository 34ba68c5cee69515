package dev.coatcheck.core.older;

import dev.coatcheck.core.id.Base62;
import dev.coatcheck.core.id.Prefix;

/**
 * Texts that begin with a prefix and continue with characters of an alphabet.
 *
 * @param prefix may be empty
 * @param lengthMin of what follows the prefix, at least 1
 * @param lengthMax of what follows the prefix
 */
public record TextShape(String prefix, Alphabet alphabet, int lengthMin, int lengthMax) {
  private static final Alphabet BASE62 = new Alphabet(Base62.ALPHABET);
  private static final int BODY_LENGTH = 24;

  public TextShape {
    if (lengthMin < 1 || lengthMax < lengthMin) {
      throw new IllegalArgumentException("lengths: " + lengthMin + " to " + lengthMax);
    }
  }

  /** All public IDs of ours with the prefix. */
  public static TextShape ofOurs(Prefix prefix) {
    return new TextShape(prefix.value() + "_", BASE62, BODY_LENGTH, BODY_LENGTH);
  }

  /** The same behind a text. */
  public TextShape after(String before) {
    return new TextShape(before + prefix, alphabet, lengthMin, lengthMax);
  }

  /** Whether the whole text is of this shape. */
  public boolean fits(String text) {
    int length = text.length() - prefix.length();
    return length >= lengthMin
        && length <= lengthMax
        && text.startsWith(prefix)
        && alphabet.spells(text.substring(prefix.length()));
  }

  /** Whether some text is of both shapes. */
  public boolean overlaps(TextShape other) {
    return prefix.length() <= other.prefix.length()
        ? overlapsLonger(other)
        : other.overlapsLonger(this);
  }

  /** Whether each text of the other shape is of this one too. */
  public boolean covers(TextShape other) {
    if (!other.prefix.startsWith(prefix)) {
      return false;
    }
    String between = other.prefix.substring(prefix.length());
    return alphabet.spells(between)
        && alphabet.spells(other.alphabet.characters())
        && lengthMin <= between.length() + other.lengthMin
        && lengthMax >= between.length() + other.lengthMax;
  }

  private boolean overlapsLonger(TextShape other) {
    if (!other.prefix.startsWith(prefix)) {
      return false;
    }
    String between = other.prefix.substring(prefix.length());
    return alphabet.spells(between)
        && alphabet.meets(other.alphabet)
        && Math.max(lengthMin - between.length(), other.lengthMin)
            <= Math.min(lengthMax - between.length(), other.lengthMax);
  }
}
