package dev.coatcheck.ids.mapping;

import dev.coatcheck.core.id.Token;
import dev.coatcheck.ids.registry.Type;

/**
 * One public ID, whatever its type's prefix is. A token alone is none: an import may bring the
 * token of one type to another type whose keys lie in the other table.
 */
public record TypedToken(int typeNumber, Token token) {
  public static TypedToken of(Type type, Token token) {
    return new TypedToken(type.number(), token);
  }

  /** How the change feed names a public ID. */
  public String subjectOfChange() {
    return typeNumber + " " + token.toUuid();
  }
}
