package dev.coatcheck.ids.mapping;

import dev.coatcheck.cluster.change.Change;
import dev.coatcheck.core.id.PublicId;
import dev.coatcheck.core.name.WireNamed;
import dev.coatcheck.ids.alias.AliasScheme;
import dev.coatcheck.ids.registry.Registry;
import dev.coatcheck.ids.registry.Type;
import java.util.Optional;
import java.util.function.Function;

/** What a change is to an application that keeps answers of the gateway. */
public sealed interface ChangeMeaning {
  /** A public ID was revoked, merged into another one, or erased. */
  record Ended(Type type, PublicId id) implements ChangeMeaning {}

  /** A legacy ID, or a public ID of an older system, names nothing any more. */
  record AliasRemoved(Type type, AliasScheme scheme, String value) implements ChangeMeaning {}

  record TypeChanged(Type type) implements ChangeMeaning {}

  /** It is about nothing that an application keeps. */
  record Nothing() implements ChangeMeaning {}

  /** It is about a type that this instance is about to load. */
  record TypeNotLoaded() implements ChangeMeaning {}

  static ChangeMeaning of(Change change, Registry registry) {
    return switch (change.kind()) {
      case ENDING ->
          TypedToken.parse(change.subject())
              .map(
                  ended ->
                      ofType(
                          registry,
                          ended.typeNumber(),
                          type -> new Ended(type, new PublicId(type.prefix(), ended.token()))))
              .orElseGet(Nothing::new);
      case ALIAS -> alias(change.subject().split(" ", 4), registry);
      case TYPE -> ofType(registry, Integer.parseInt(change.subject()), TypeChanged::new);
      case API_KEY, TABLE_MIGRATION -> new Nothing();
    };
  }

  /** The parts of {@code Alias.subjectOfChange}. Client IDs belong to those who chose them. */
  private static ChangeMeaning alias(String[] parts, Registry registry) {
    Optional<AliasScheme> scheme =
        WireNamed.find(AliasScheme.class, parts[1]).filter(of -> of != AliasScheme.CLIENT);
    return scheme.isEmpty()
        ? new Nothing()
        : ofType(
            registry,
            Integer.parseInt(parts[0]),
            type -> new AliasRemoved(type, scheme.get(), parts[3]));
  }

  private static ChangeMeaning ofType(
      Registry registry, int number, Function<Type, ChangeMeaning> meaning) {
    return registry.numbered(number).map(meaning).orElseGet(TypeNotLoaded::new);
  }
}
