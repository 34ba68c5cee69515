package dev.coatcheck.ids.ending;

import dev.coatcheck.ids.mapping.ResolveOutcome;

/** The outcome of a revocation or a merge. */
public sealed interface EndOutcome {

  /** Which of the names in the request is meant. */
  enum Side {
    ID,
    INTO
  }

  /** It is ended as was wanted: just now, or before. Committed. */
  record Done(ResolveOutcome.Ended ended) implements EndOutcome {}

  record Unknown(Side side) implements EndOutcome {}

  record Malformed(Side side, ResolveOutcome.Malformed malformed) implements EndOutcome {}

  /** It was ended in another way before: an ending is for good. */
  record EndedOtherwise(Side side) implements EndOutcome {}

  /** The two can't be merged. */
  record MergeRefused(Why why) implements EndOutcome {
    /** Why not. */
    public enum Why {
      ITSELF,
      CYCLE,
      OTHER_TYPE
    }
  }
}
