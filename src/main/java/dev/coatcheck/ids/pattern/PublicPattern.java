package dev.coatcheck.ids.pattern;

import dev.coatcheck.core.json.JsonObject;
import dev.coatcheck.core.older.Alphabet;
import dev.coatcheck.core.older.TextShape;

/**
 * Public IDs of an older system that follow no rule, and so have a row each.
 *
 * @param shape of at most 255 characters in all
 */
public record PublicPattern(TextShape shape) implements OlderSystem {
  static final String FIELD = "public_pattern";

  static PublicPattern read(JsonObject json) {
    String textPrefix = OlderSystem.textPrefix(json);
    int most = LENGTH_MAX - textPrefix.length();
    Alphabet alphabet = OlderSystem.alphabet(json, json.string("alphabet"), 1);
    int min = json.integer("min_length", 1, most);
    int max = json.integer("max_length", min, most);
    json.refuseOthers();
    return new PublicPattern(new TextShape(textPrefix, alphabet, min, max));
  }

  @Override
  public String field() {
    return FIELD;
  }

  /** Whether the whole text is one that the pattern describes. */
  public boolean matches(String text) {
    return shape.fits(text);
  }
}
