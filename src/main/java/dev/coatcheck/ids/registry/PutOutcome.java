package dev.coatcheck.ids.registry;

import dev.coatcheck.ids.pattern.LegacyUrlTemplate;

/** The outcome of putting a {@link TypeDefinition}. */
public sealed interface PutOutcome {

  record Created(Type type) implements PutOutcome {}

  /** The type was there; its mutable fields are now as defined (they may have been before). */
  record Updated(Type type) implements PutOutcome {}

  /** Another type has the prefix. */
  record PrefixTaken() implements PutOutcome {}

  /** The type was there with another value of a field that never changes. */
  record ImmutableFieldDiffers(String field) implements PutOutcome {}

  /** The type is new, and the segment that its keys shall come from does not exist. */
  record TagUnknown() implements PutOutcome {}

  /** A URL template of the type names a type that is not registered. */
  record TemplateTypeUnknown(int template) implements PutOutcome {}

  /**
   * A URL template of the type and another one say different things of the same path.
   *
   * @param typeName of the type that has the other one; it may be the type itself
   */
  record TemplatesContradict(int template, String typeName, LegacyUrlTemplate other)
      implements PutOutcome {}

  /**
   * Some text could be a public ID of two types, or of two systems of the type: in the older system
   * that the definition declares, or with its prefix.
   *
   * @param typeName of the type that has the other one; it may be the type itself
   */
  record PublicIdsOverlap(Side side, String typeName) implements PutOutcome {
    /** What of the definition makes the text. */
    public enum Side {
      PREFIX,
      OLDER_SYSTEM
    }
  }

  /** The type is not at the version that the caller expected; 0 where there is none. */
  record VersionDiffers(int actual) implements PutOutcome {}
}
