package dev.coatcheck.ids.registry;

/** The outcome of putting a {@link TypeDefinition}. */
public sealed interface PutOutcome {

  record Created(Type type) implements PutOutcome {}

  /**
   * The type existed; its mutable fields are now as defined. They may have been the same before.
   */
  record Updated(Type type) implements PutOutcome {}

  /**
   * The definition contradicts the type itself or another one. Nothing was changed.
   *
   * @param code of the problem in the answer
   * @param field of the definition that is at fault
   * @param detail says what is wrong, and what to do
   */
  record Refused(String code, String field, String detail) implements PutOutcome {}

  /** The type is not at the version that the caller expected; 0 where there is none. */
  record VersionDiffers(int actual) implements PutOutcome {}
}
