package dev.coatcheck.ids.redirect;

import dev.coatcheck.core.key.Key;
import dev.coatcheck.core.older.Decoded;
import dev.coatcheck.ids.registry.Registry;
import dev.coatcheck.ids.registry.Type;
import java.util.Optional;
import java.util.function.Predicate;

/** An ID from an older system; it may not exist. */
public sealed interface OlderId permits LegacyId, OlderId.OfKey {
  Type type();

  /** A public ID of an older system that carries the key. */
  record OfKey(Type type, Key key) implements OlderId {}

  /**
   * Decodes a text by the rule of a type. It is the only one: the texts of two types don't overlap.
   * Never asks Postgres.
   */
  static Optional<OlderId> decoded(String text, Registry registry) {
    return decoded(text, registry, _ -> true);
  }

  /** As the other one, by the rules of these types only. */
  static Optional<OlderId> decoded(String text, Registry registry, Predicate<Type> types) {
    for (Type type : registry.withOlderSystem()) {
      Optional<OlderId> decoded = types.test(type) ? decoded(text, type) : Optional.empty();
      if (decoded.isPresent()) {
        return decoded;
      }
    }
    return Optional.empty();
  }

  /** Decodes a text by the rule of the type, if it has one. */
  static Optional<OlderId> decoded(String text, Type type) {
    return type.publicRule().flatMap(rule -> rule.decode(text)).map(decoded -> of(type, decoded));
  }

  private static OlderId of(Type type, Decoded decoded) {
    return switch (decoded) {
      case Decoded.OfNumber(long number) -> new LegacyId(type, number);
      case Decoded.OfUuid(Key.Uuid key) -> new OfKey(type, key);
    };
  }
}
