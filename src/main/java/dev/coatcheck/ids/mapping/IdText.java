package dev.coatcheck.ids.mapping;

import dev.coatcheck.core.id.PublicId;
import dev.coatcheck.core.id.Token;
import dev.coatcheck.ids.alias.Alias;
import dev.coatcheck.ids.registry.Type;
import java.util.Map;

/** What kind of ID a text is. */
public sealed interface IdText {

  /** Of an older system: the rule of a type decodes it. */
  record OfRule(OlderId id) implements IdText {}

  /** To be looked up in the tables of mappings and aliases. */
  sealed interface OfRow extends IdText {}

  /** Of an older system: a pattern describes it. One of its aliases may be stored. */
  record OfPattern(Map<Alias, Type> aliases) implements OfRow {}

  /** Needs no look-up of aliases. */
  sealed interface Plain extends OfRow {}

  /** A public ID of the type, issued or not. */
  record OfToken(Type type, Token token) implements Plain {
    public TypedToken id() {
      return TypedToken.of(type, token);
    }

    public PublicId publicId() {
      return new PublicId(type.prefix(), token);
    }
  }

  /** An alias of a public ID of the type that was erased. */
  record OfErased(Type type) implements Plain {}

  /** Certainly never issued. */
  record Unissued(ResolveOutcome.Unissued outcome) implements Plain {}
}
