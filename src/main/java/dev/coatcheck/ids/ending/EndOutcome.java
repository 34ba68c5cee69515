package dev.coatcheck.ids.ending;

import dev.coatcheck.ids.mapping.ResolveOutcome;

/** The outcome of a revocation or a merge. */
public sealed interface EndOutcome {

  /** Which public ID of the request is meant. */
  enum Side {
    ID,
    INTO
  }

  /** The public ID has ended as requested, now or earlier. Committed. */
  record Done(ResolveOutcome.Ended ended) implements EndOutcome {}

  record Unissued(Side side, ResolveOutcome.Unissued why) implements EndOutcome {}

  /** The public ID was erased. */
  record Erased(Side side) implements EndOutcome {}

  /** The public ID had ended in another way before. An ending is final. */
  record EndedOtherwise(Side side) implements EndOutcome {}

  /** The two public IDs can't be merged. */
  record MergeRefused(Why why) implements EndOutcome {
    public enum Why {
      ITSELF,
      CYCLE,
      OTHER_TYPE
    }
  }
}
