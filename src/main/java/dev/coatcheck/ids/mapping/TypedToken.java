package dev.coatcheck.ids.mapping;

import dev.coatcheck.core.id.Token;
import dev.coatcheck.ids.registry.Type;
import java.util.Optional;
import java.util.UUID;

/**
 * A public ID: the number of its type, and its token. The token alone is ambiguous, because an
 * import may give two types the same token.
 */
public record TypedToken(int typeNumber, Token token) {
  public static TypedToken of(Type type, Token token) {
    return new TypedToken(type.number(), token);
  }

  /** The public ID that the change feed names; empty for another subject. */
  static Optional<TypedToken> parse(String subject) {
    int space = subject.indexOf(' ');
    return space < 0
        ? Optional.empty()
        : Optional.of(
            new TypedToken(
                Integer.parseInt(subject, 0, space, 10),
                Token.of(UUID.fromString(subject.substring(space + 1)))));
  }

  /** How the change feed names a public ID. */
  public String subjectOfChange() {
    return typeNumber + " " + token.toUuid();
  }
}
