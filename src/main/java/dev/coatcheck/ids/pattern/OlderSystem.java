package dev.coatcheck.ids.pattern;

import dev.coatcheck.core.json.JsonObject;
import dev.coatcheck.core.key.KeyKind;
import dev.coatcheck.core.older.Alphabet;
import dev.coatcheck.core.older.TextShape;
import java.util.Optional;

/** The public IDs that a type had in an older system. */
public sealed interface OlderSystem permits PublicPattern, PublicRule {
  /** The greatest length of such a public ID. */
  int LENGTH_MAX = 255;

  /** Reads the two fields of a type, of which at most one is there. */
  static Optional<OlderSystem> read(JsonObject type, KeyKind keys) {
    Optional<OlderSystem> pattern =
        type.optionalObject(PublicPattern.FIELD).map(PublicPattern::read);
    Optional<OlderSystem> rule =
        type.optionalObject(PublicRule.FIELD).map(json -> PublicRule.read(json, keys));
    if (pattern.isPresent() && rule.isPresent()) {
      throw type.invalid(
          PublicRule.FIELD, "A type has a public_pattern or a public_rule. Leave one out.");
    }
    return pattern.or(() -> rule);
  }

  /** The text that all of them begin with. */
  static String textPrefix(JsonObject json) {
    String text = json.string("text_prefix", "");
    if (text.length() > 64 || !text.chars().allMatch(c -> c >= '!' && c <= '~')) {
      throw json.invalid("text_prefix", "A text_prefix is up to 64 visible ASCII characters.");
    }
    return text;
  }

  /** An alphabet that a request spells out. */
  static Alphabet alphabet(JsonObject json, String text, int sizeMin) {
    return Alphabet.parse(text)
        .filter(alphabet -> alphabet.size() >= sizeMin)
        .orElseThrow(
            () ->
                json.invalid(
                    "alphabet",
                    "Send the characters one after the other: visible ASCII, none twice, at least %s."
                        .formatted(sizeMin)));
  }

  /** The field of a type that declares it. */
  String field();

  /** A shape that all of them have. */
  TextShape shape();
}
