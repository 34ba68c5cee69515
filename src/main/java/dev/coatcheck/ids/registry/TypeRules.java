package dev.coatcheck.ids.registry;

import dev.coatcheck.core.key.KeyGeneration;
import dev.coatcheck.core.older.TextShape;
import dev.coatcheck.ids.pattern.LegacyUrlTemplate;
import dev.coatcheck.ids.pattern.OlderSystem;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/** The rules for defining a type, given all types as they are: why a definition is refused. */
final class TypeRules {
  private TypeRules() {}

  /**
   * Why the definition is refused; empty if it isn't.
   *
   * @param present the type as it is; empty if the definition creates it
   */
  static Optional<PutOutcome> refusal(
      List<Type> all, Optional<Type> present, TypeDefinition definition) {
    return templateRefusal(all, definition)
        .or(() -> overlap(all, definition))
        .or(
            () ->
                present.isPresent()
                    ? fixedDifference(present.get(), definition).map(TypeRules::immutable)
                    : takenPrefix(all, definition));
  }

  private static PutOutcome immutable(String field) {
    return new PutOutcome.Refused(
        "immutable_field",
        field,
        "This field can't be changed. Send its registered value, or create another type.");
  }

  private static Optional<PutOutcome> takenPrefix(List<Type> all, TypeDefinition definition) {
    return all.stream().anyMatch(type -> type.prefix().equals(definition.prefix()))
        ? Optional.of(new PutOutcome.Refused("prefix_taken", "prefix", "Choose another prefix."))
        : Optional.empty();
  }

  /**
   * Why the URL templates of the type contradict each other or those of other types; empty if they
   * don't.
   */
  private static Optional<PutOutcome> templateRefusal(List<Type> all, TypeDefinition definition) {
    List<LegacyUrlTemplate> templates = definition.policies().urlTemplates();
    SortedMap<String, List<LegacyUrlTemplate>> byType = new TreeMap<>();
    all.forEach(type -> byType.put(type.name(), type.urlTemplates()));
    byType.put(definition.name(), templates);
    for (int i = 0; i < templates.size(); i++) {
      if (!byType.keySet().containsAll(templates.get(i).typeNames())) {
        return Optional.of(
            new PutOutcome.Refused(
                "url_template_refused",
                Policies.urlTemplateAt(i),
                "The URL template names a type that is not registered. Register that type first."));
      }
      for (Map.Entry<String, List<LegacyUrlTemplate>> type : byType.entrySet()) {
        for (LegacyUrlTemplate other : type.getValue()) {
          if (templates.get(i).contradicts(other)) {
            return Optional.of(
                new PutOutcome.Refused(
                    "url_template_conflict",
                    Policies.urlTemplateAt(i),
                    "The same path can fit this URL template and "
                        + (type.getKey().equals(definition.name())
                            ? "another URL template of this type"
                            : other + " of the type " + type.getKey())
                        + ", and a number in it would be two different legacy IDs. Change one of"
                        + " them."));
          }
        }
      }
    }
    return Optional.empty();
  }

  /**
   * Refuses a definition some of whose public IDs could as well belong to another type: the type of
   * a public ID, ours or an older system's, is recognized by its text alone.
   */
  private static Optional<PutOutcome> overlap(List<Type> all, TypeDefinition definition) {
    TextShape ours = TextShape.ofOurs(definition.prefix());
    Optional<OlderSystem> declared = definition.policies().olderSystem();
    Optional<TextShape> older = declared.map(OlderSystem::shape);
    if (older.filter(ours::overlaps).isPresent()) {
      return Optional.of(olderOverlap(declared.get(), "a public ID of this type itself"));
    }
    for (Type other : all) {
      if (other.name().equals(definition.name())) {
        continue;
      }
      TextShape theirs = TextShape.ofOurs(other.prefix());
      Optional<TextShape> olderThere = other.olderSystem().map(OlderSystem::shape);
      if (older.isPresent()
          && (older.get().overlaps(theirs)
              || olderThere.stream().anyMatch(older.get()::overlaps))) {
        return Optional.of(olderOverlap(declared.get(), "a public ID of the type " + other.name()));
      }
      if (olderThere.filter(ours::overlaps).isPresent()) {
        return Optional.of(
            new PutOutcome.Refused(
                "public_ids_overlap",
                "prefix",
                "With this prefix some public ID could be an older public ID of the type %s. Choose another prefix."
                    .formatted(other.name())));
      }
    }
    return Optional.empty();
  }

  private static PutOutcome olderOverlap(OlderSystem declared, String other) {
    return new PutOutcome.Refused(
        "public_ids_overlap",
        declared.field(),
        "Some text could be an older public ID of this type and "
            + other
            + ". Declare a text_prefix that only these older public IDs have, or lengths or an"
            + " alphabet that tell them apart.");
  }

  /** The first immutable field that differs. */
  private static Optional<String> fixedDifference(Type present, TypeDefinition definition) {
    KeyGeneration generation = definition.generation();
    if (!present.prefix().equals(definition.prefix())) {
      return Optional.of("prefix");
    }
    if (present.keyKind() != definition.keyKind()) {
      return Optional.of("key");
    }
    if (!present.generation().wireName().equals(generation.wireName())) {
      return Optional.of("generate");
    }
    return present.generation().equals(generation)
        ? Optional.empty()
        : Optional.of(generation instanceof KeyGeneration.Segment ? "tag" : "layout");
  }
}
