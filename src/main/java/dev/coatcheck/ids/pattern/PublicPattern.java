package dev.coatcheck.ids.pattern;

/**
 * Public IDs of an older system that follow no rule, and so have a row each.
 *
 * @param shape of at most 255 characters in all
 */
public record PublicPattern(TextShape shape) implements OlderSystem {
  public PublicPattern {
    if (shape.prefix().length() + shape.lengthMax() > LENGTH_MAX) {
      throw new IllegalArgumentException("public pattern: " + shape);
    }
  }

  /** Whether the whole text is one that the pattern describes. */
  public boolean matches(String text) {
    return shape.fits(text);
  }
}
