package dev.coatcheck.ids.ending;

import dev.coatcheck.ids.mapping.ResolveOutcome;

/** The outcome of an erasure. */
public sealed interface EraseOutcome {

  /** The public ID is erased, now or earlier. Committed. */
  record Erased(Erasure erasure) implements EraseOutcome {}

  /** The text is an alias of a public ID that was erased; it doesn't say of which one. */
  record OfErasedAlias() implements EraseOutcome {}

  record Unknown() implements EraseOutcome {}

  /** No ID of the types that the caller may use. */
  record NotAllowed() implements EraseOutcome {}

  /** It was issued, and not erased. */
  record NotErased() implements EraseOutcome {}

  record Malformed(ResolveOutcome.Malformed malformed) implements EraseOutcome {}

  /**
   * Public IDs were merged into it, and would have no survivor. Nothing was done.
   *
   * @param merged how many
   */
  record Survivor(int merged) implements EraseOutcome {}

  /** More public IDs were merged into it than one transaction erases. Nothing was done. */
  record TooManyMerged() implements EraseOutcome {}

  /** Another transaction is using one of the public IDs. Nothing was done. */
  record Busy() implements EraseOutcome {}

  /** More erasures are waiting than can be done in time. Nothing was done. */
  record Overloaded() implements EraseOutcome {}
}
