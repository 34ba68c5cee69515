package dev.coatcheck.ids.mapping;

import dev.coatcheck.core.id.ParsedId;
import dev.coatcheck.ids.registry.Type;
import java.time.Instant;
import java.util.Optional;

/** The outcome of resolving a public ID. */
public sealed interface ResolveOutcome {

  record Found(Mapping mapping) implements ResolveOutcome {}

  /** It was issued, and has ended for good. */
  sealed interface Ended extends ResolveOutcome {
    /** The public ID that was asked for. */
    Mapping mapping();

    Instant endedAt();
  }

  /**
   * It was revoked, or it was merged into an ID that was revoked.
   *
   * @param reason for authenticated callers only
   */
  record Revoked(Mapping mapping, Optional<String> reason, Instant endedAt) implements Ended {}

  /**
   * It was merged into another ID of its type. The survivor is active, because chains are
   * flattened.
   */
  record Merged(Mapping mapping, Mapping survivor, Instant endedAt) implements Ended {}

  /** It was issued, and neither its key nor an alias of it is known any more. */
  record Erased(Type type) implements ResolveOutcome {}

  /** No such public ID was ever issued. */
  sealed interface Unissued extends ResolveOutcome {}

  /** Well formed, of a known prefix or an older system, and never issued. */
  record Unknown() implements Unissued {}

  /**
   * No ID of the types that the caller may use. Whether it is the ID of another type is not told.
   */
  record NotAllowed() implements Unissued {}

  /** Not a public ID of ours; the database was not asked. */
  record Malformed(ParsedId.Reason reason, int position) implements Unissued {}
}
