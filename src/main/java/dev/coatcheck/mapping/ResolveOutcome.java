package dev.coatcheck.mapping;

import dev.coatcheck.id.ParsedId;

/** What became of a public ID. */
public sealed interface ResolveOutcome {

  record Found(Mapping mapping) implements ResolveOutcome {}

  /** Well formed, of a known prefix, and never issued. */
  record Unknown() implements ResolveOutcome {}

  /** Not a public ID of ours; the database was not asked. */
  record Malformed(ParsedId.Reason reason, int position) implements ResolveOutcome {}
}
