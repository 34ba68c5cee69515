package dev.coatcheck.ids.mapping;

import dev.coatcheck.core.id.Token;
import dev.coatcheck.ids.alias.Alias;
import dev.coatcheck.ids.registry.Type;
import java.util.Map;

/** What a text is that should be a public ID. */
public sealed interface IdText {

  /** Of an older system: the rule of a type decodes it. */
  record OfRule(OlderId id) implements IdText {}

  /** What the rows of mappings answer for. */
  sealed interface OfRow extends IdText {}

  /** Of an older system: a pattern describes it. One of its aliases may be stored. */
  record OfPattern(Map<Alias, Type> aliases) implements OfRow {}

  /** What needs no look-up of aliases. */
  sealed interface Plain extends OfRow {}

  /** A public ID of the type, issued or not. */
  record OfToken(Type type, Token token) implements Plain {}

  /** Surely not issued. */
  record Unissued(ResolveOutcome.Unissued outcome) implements Plain {}
}
