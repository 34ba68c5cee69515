package dev.coatcheck.ids.pattern;

import dev.coatcheck.core.json.JsonObject;
import dev.coatcheck.core.key.KeyKind;
import dev.coatcheck.core.older.Alphabet;
import dev.coatcheck.core.older.Decoded;
import dev.coatcheck.core.older.Decoder;
import dev.coatcheck.core.older.Hashids;
import dev.coatcheck.core.older.Sqids;
import dev.coatcheck.core.older.TextShape;
import dev.coatcheck.core.older.TypeIds;
import dev.coatcheck.core.older.Uuids;
import java.util.Optional;

/**
 * Public IDs of an older system that a rule decodes, so that they need no rows.
 *
 * @param textPrefix a fixed text in front of what the decoder reads; may be empty
 * @param decoder of at most 255 characters with the text prefix
 */
public record PublicRule(String textPrefix, Decoder decoder) implements OlderSystem {
  static final String FIELD = "public_rule";

  static PublicRule read(JsonObject json, KeyKind keys) {
    String scheme = json.string("scheme");
    String textPrefix = OlderSystem.textPrefix(json);
    Decoder decoder =
        switch (scheme) {
          case Hashids.SCHEME -> hashids(json);
          case Sqids.SCHEME ->
              new Sqids(
                  alphabet(json, Sqids.DEFAULT_ALPHABET, Sqids.ALPHABET_SIZE_MIN), minLength(json));
          case TypeIds.SCHEME -> typeIds(json);
          case Uuids.SCHEME -> new Uuids();
          default ->
              throw json.invalid("scheme", "The schemes are hashids, sqids, typeid and uuid.");
        };
    json.refuseOthers();
    if ((decoder instanceof TypeIds || decoder instanceof Uuids) && keys != KeyKind.UUID) {
      throw json.invalid(
          "scheme", "typeid and uuid carry the key, so the key of the type must be uuid.");
    }
    TextShape texts = decoder.shape().after(textPrefix);
    if (texts.prefix().length() + texts.lengthMax() > LENGTH_MAX) {
      throw json.invalid(
          "text_prefix", "An older public ID has at most 255 characters with its text_prefix.");
    }
    return new PublicRule(textPrefix, decoder);
  }

  private static Hashids hashids(JsonObject json) {
    String salt = json.string("salt", "");
    if (!Hashids.isSalt(salt)) {
      throw json.invalid(
          "salt", "A salt has up to 255 characters, each of the Basic Multilingual Plane.");
    }
    return new Hashids(
        salt, alphabet(json, Hashids.DEFAULT_ALPHABET, Hashids.ALPHABET_SIZE_MIN), minLength(json));
  }

  private static TypeIds typeIds(JsonObject json) {
    String prefix = json.string("prefix");
    if (!TypeIds.isTypeName(prefix)) {
      throw json.invalid(
          "prefix",
          "The prefix of TypeIDs is up to 63 of a-z and _, starts and ends with a letter, or is"
              + " empty.");
    }
    return new TypeIds(prefix);
  }

  private static Alphabet alphabet(JsonObject json, Alphabet otherwise, int sizeMin) {
    return OlderSystem.alphabet(json, json.string("alphabet", otherwise.characters()), sizeMin);
  }

  private static int minLength(JsonObject json) {
    return json.integer("min_length", 0, Decoder.TEXT_LENGTH_MAX, 0);
  }

  @Override
  public String field() {
    return FIELD;
  }

  /**
   * What a text stands for; empty unless the rule makes exactly this text of it. Numbers begin at
   * 1, as legacy IDs do.
   */
  public Optional<Decoded> decode(String text) {
    return text.startsWith(textPrefix)
        ? decoder.decode(text.substring(textPrefix.length())).filter(PublicRule::isGiven)
        : Optional.empty();
  }

  private static boolean isGiven(Decoded decoded) {
    return !(decoded instanceof Decoded.OfNumber(long number) && number == 0);
  }

  /** Whether its texts begin with a fixed text, so that they are known wherever they stand. */
  public boolean isMarked() {
    return !shape().prefix().isEmpty();
  }

  @Override
  public TextShape shape() {
    return decoder.shape().after(textPrefix);
  }
}
