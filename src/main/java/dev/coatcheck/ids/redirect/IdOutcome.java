package dev.coatcheck.ids.redirect;

import dev.coatcheck.ids.mapping.ResolveOutcome;

/** The outcome of resolving an ID, which may be one of an older system. */
public sealed interface IdOutcome permits IdOutcome.Resolved, LegacyPaused {

  record Resolved(ResolveOutcome outcome) implements IdOutcome {}
}
