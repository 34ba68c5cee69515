package dev.coatcheck.ids.mapping;

import dev.coatcheck.core.key.Key;
import dev.coatcheck.core.older.Decoded;
import dev.coatcheck.ids.alias.Alias;
import dev.coatcheck.ids.alias.AliasScheme;
import dev.coatcheck.ids.registry.LegacyNumber;
import dev.coatcheck.ids.registry.Type;
import java.util.Optional;
import java.util.OptionalLong;

/** An ID from an older system; it may not exist. */
public sealed interface OlderId {
  Type type();

  /**
   * A legacy ID.
   *
   * @param number at least 1
   */
  record LegacyId(Type type, long number) implements OlderId {
    public Alias alias() {
      return Alias.of(type, AliasScheme.LEGACY, Long.toString(number));
    }
  }

  /** A public ID of an older system that carries the key. */
  record OfKey(Type type, Key key) implements OlderId {
    TypedKey typedKey() {
      return TypedKey.of(type, key);
    }
  }

  static Optional<OlderId> decoded(String text, Type type) {
    return type.publicRule()
        .flatMap(rule -> rule.decode(text))
        .map(
            decoded ->
                switch (decoded) {
                  case Decoded.OfNumber(long number) -> new LegacyId(type, number);
                  case Decoded.OfUuid(Key.Uuid key) -> new OfKey(type, key);
                });
  }

  /**
   * Reads a text where a legacy ID of the type is expected: a number, or what the rule of the type
   * decodes. Empty if it is neither, or both at once: an ambiguous text is refused.
   */
  static Optional<OlderId> read(String text, Type type) {
    OptionalLong number = LegacyNumber.parse(text);
    Optional<OlderId> decoded = decoded(text, type);
    if (number.isEmpty()) {
      return decoded;
    }
    return decoded.isPresent()
        ? Optional.empty()
        : Optional.of(new LegacyId(type, number.getAsLong()));
  }
}
