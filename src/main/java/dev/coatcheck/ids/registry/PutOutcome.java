package dev.coatcheck.ids.registry;

import java.util.List;

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

  /** The type is not at the version that the caller expected. */
  record VersionDiffers() implements PutOutcome {}

  /**
   * Links that have a target today would have none, and the caller didn't say that they may end.
   * Nothing was changed.
   *
   * @param legacyHits look-ups of legacy IDs in the last 30 days, as of some seconds ago
   * @param liveIds the public IDs of the type that are in force
   * @param isExact false if there may be more of them, because counting them all takes long
   */
  record LinksWouldDie(List<DyingLinks> links, long legacyHits, int liveIds, boolean isExact)
      implements PutOutcome {
    public LinksWouldDie {
      links = List.copyOf(links);
    }
  }
}
