package dev.coatcheck.ids.mapping;

import dev.coatcheck.core.id.Token;
import dev.coatcheck.ids.registry.Type;

/**
 * A public ID: the number of its type, and its token. The token alone is ambiguous, because an
 * import may give two types the same token.
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
