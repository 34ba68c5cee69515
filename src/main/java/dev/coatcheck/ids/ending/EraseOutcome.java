package dev.coatcheck.ids.ending;

import dev.coatcheck.ids.mapping.ResolveOutcome;

public sealed interface EraseOutcome {

  /** The public ID is erased, now or earlier. Committed. */
  record Erased(Erasure erasure) implements EraseOutcome {}

  /** Not erased, or not by this call. */
  sealed interface Refused extends EraseOutcome {}

  /** The text is an alias of a public ID that was erased; it doesn't say of which one. */
  record OfErasedAlias() implements Refused {}

  record Unissued(ResolveOutcome.Unissued why) implements Refused {}

  /** It was issued, and not erased. */
  record NotErased() implements Refused {}

  /**
   * Public IDs were merged into it, and would have no survivor. Nothing was done.
   *
   * @param merged how many
   */
  record Survivor(int merged) implements Refused {}

  /** More public IDs were merged into it than one transaction erases. Nothing was done. */
  record TooManyMerged() implements Refused {}

  /**
   * It is sealed, so its key can't be forgotten: the ID is the key, enciphered. Nothing was done.
   */
  record Sealed() implements Refused {}

  /**
   * It is pinned, but the seal key that makes its key of it is still here. Nothing was done.
   *
   * @param fingerprint of the seal key
   */
  record SealKeyKept(String fingerprint) implements Refused {}

  /** Another transaction is using one of the public IDs. Nothing was done. */
  record Busy() implements Refused {}

  /** More erasures are waiting than can be done in time. Nothing was done. */
  record Overloaded() implements Refused {}
}
