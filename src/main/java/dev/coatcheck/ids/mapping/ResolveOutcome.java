package dev.coatcheck.ids.mapping;

import dev.coatcheck.core.id.ParsedId;
import java.time.Instant;
import java.util.Optional;

/** The outcome of resolving a public ID. */
public sealed interface ResolveOutcome {

  record Found(Mapping mapping) implements ResolveOutcome {}

  /** It was issued, and was ended for good. */
  sealed interface Ended extends ResolveOutcome {
    /** The public ID that was asked for. */
    Mapping mapping();

    Instant endedAt();
  }

  /**
   * It was revoked, or the one that it was merged into was.
   *
   * @param reason for authenticated callers only
   */
  record Revoked(Mapping mapping, Optional<String> reason, Instant endedAt) implements Ended {}

  /** It stands for another thing of its type now. The survivor is in force: chains are flat. */
  record Merged(Mapping mapping, Mapping survivor, Instant endedAt) implements Ended {}

  /** No such public ID was ever issued. */
  sealed interface Unissued extends ResolveOutcome {}

  /** Well formed, of a known prefix or an older system, and never issued. */
  record Unknown() implements Unissued {}

  /** Not a public ID of ours; the database was not asked. */
  record Malformed(ParsedId.Reason reason, int position) implements Unissued {}
}
