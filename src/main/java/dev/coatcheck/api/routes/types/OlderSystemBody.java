package dev.coatcheck.api.routes.types;

import dev.coatcheck.api.exchange.JsonObject;
import dev.coatcheck.core.key.KeyKind;
import dev.coatcheck.core.older.Alphabet;
import dev.coatcheck.core.older.Decoder;
import dev.coatcheck.core.older.Hashids;
import dev.coatcheck.core.older.Sqids;
import dev.coatcheck.core.older.TypeIds;
import dev.coatcheck.core.older.Uuids;
import dev.coatcheck.ids.pattern.OlderSystem;
import dev.coatcheck.ids.pattern.PublicPattern;
import dev.coatcheck.ids.pattern.PublicRule;
import dev.coatcheck.ids.pattern.TextShape;
import java.util.Optional;

/** Reads from a request which public IDs a type had in an older system. */
final class OlderSystemBody {
  static final String PATTERN = "public_pattern";
  static final String RULE = "public_rule";

  private static final String TEXT_PREFIX = "text_prefix";
  private static final String ALPHABET = "alphabet";
  private static final String MIN_LENGTH = "min_length";
  private static final String MAX_LENGTH = "max_length";
  private static final String SCHEME = "scheme";

  private OlderSystemBody() {}

  /** The fields of a type, of which at most one is there. */
  static Optional<OlderSystem> read(JsonObject body, KeyKind keys) {
    Optional<OlderSystem> pattern = body.optionalObject(PATTERN).map(OlderSystemBody::pattern);
    Optional<OlderSystem> rule = body.optionalObject(RULE).map(fields -> rule(fields, keys));
    if (pattern.isPresent() && rule.isPresent()) {
      throw body.invalid(RULE, "A type has a public_pattern or a public_rule. Leave one out.");
    }
    return pattern.or(() -> rule);
  }

  /** The field that declares it. */
  static String field(OlderSystem system) {
    return switch (system) {
      case PublicPattern _ -> PATTERN;
      case PublicRule _ -> RULE;
    };
  }

  private static PublicPattern pattern(JsonObject fields) {
    fields.allow(TEXT_PREFIX, ALPHABET, MIN_LENGTH, MAX_LENGTH);
    String textPrefix = textPrefix(fields);
    int most = OlderSystem.LENGTH_MAX - textPrefix.length();
    int min = fields.integer(MIN_LENGTH, 1, most);
    return new PublicPattern(
        new TextShape(
            textPrefix,
            alphabet(fields, fields.string(ALPHABET), 1),
            min,
            fields.integer(MAX_LENGTH, min, most)));
  }

  private static PublicRule rule(JsonObject fields, KeyKind keys) {
    String textPrefix = textPrefix(fields);
    Decoder decoder =
        switch (fields.string(SCHEME)) {
          case Hashids.SCHEME -> hashids(fields);
          case Sqids.SCHEME -> sqids(fields);
          case TypeIds.SCHEME -> ofUuids(fields, keys, typeIds(fields));
          case Uuids.SCHEME -> {
            fields.allow(SCHEME, TEXT_PREFIX);
            yield ofUuids(fields, keys, new Uuids());
          }
          default ->
              throw fields.invalid(SCHEME, "The schemes are hashids, sqids, typeid and uuid.");
        };
    if (textPrefix.length() + decoder.prefix().length() + decoder.lengthMax()
        > OlderSystem.LENGTH_MAX) {
      throw fields.invalid(
          TEXT_PREFIX, "An older public ID has at most 255 characters with its text_prefix.");
    }
    return new PublicRule(textPrefix, decoder);
  }

  private static Hashids hashids(JsonObject fields) {
    fields.allow(SCHEME, TEXT_PREFIX, "salt", ALPHABET, MIN_LENGTH);
    String salt = fields.optionalString("salt").orElse("");
    if (!Hashids.isSalt(salt)) {
      throw fields.invalid(
          "salt", "A salt has up to 255 characters, each of the Basic Multilingual Plane.");
    }
    return new Hashids(
        salt,
        alphabet(fields, Hashids.DEFAULT_ALPHABET, Hashids.ALPHABET_SIZE_MIN),
        minLength(fields));
  }

  private static Sqids sqids(JsonObject fields) {
    fields.allow(SCHEME, TEXT_PREFIX, ALPHABET, MIN_LENGTH);
    return new Sqids(
        alphabet(fields, Sqids.DEFAULT_ALPHABET, Sqids.ALPHABET_SIZE_MIN), minLength(fields));
  }

  private static TypeIds typeIds(JsonObject fields) {
    fields.allow(SCHEME, TEXT_PREFIX, "prefix");
    String prefix = fields.string("prefix");
    if (!TypeIds.isTypeName(prefix)) {
      throw fields.invalid(
          "prefix",
          "The prefix of TypeIDs is up to 63 of a-z and _, starts and ends with a letter, or is"
              + " empty.");
    }
    return new TypeIds(prefix);
  }

  private static Decoder ofUuids(JsonObject fields, KeyKind keys, Decoder decoder) {
    if (keys != KeyKind.UUID) {
      throw fields.invalid(
          SCHEME, "typeid and uuid carry the key, so the key of the type must be uuid.");
    }
    return decoder;
  }

  private static String textPrefix(JsonObject fields) {
    String text = fields.optionalString(TEXT_PREFIX).orElse("");
    if (!OlderSystem.isTextPrefix(text)) {
      throw fields.invalid(TEXT_PREFIX, "A text_prefix is up to 64 visible ASCII characters.");
    }
    return text;
  }

  private static Alphabet alphabet(JsonObject fields, Alphabet otherwise, int sizeMin) {
    return fields
        .optionalString(ALPHABET)
        .map(text -> alphabet(fields, text, sizeMin))
        .orElse(otherwise);
  }

  private static Alphabet alphabet(JsonObject fields, String text, int sizeMin) {
    return Alphabet.parse(text)
        .filter(alphabet -> alphabet.size() >= sizeMin)
        .orElseThrow(
            () ->
                fields.invalid(
                    ALPHABET,
                    "Send the characters one after the other: visible ASCII, none twice, at least "
                        + sizeMin
                        + "."));
  }

  private static int minLength(JsonObject fields) {
    return fields.integer(MIN_LENGTH, 0, Decoder.TEXT_LENGTH_MAX, 0);
  }
}
