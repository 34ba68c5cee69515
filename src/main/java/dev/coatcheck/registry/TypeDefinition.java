package dev.coatcheck.registry;

import dev.coatcheck.id.Prefix;
import dev.coatcheck.key.KeyScheme;
import dev.coatcheck.key.SnowflakeLayout;
import java.util.Optional;

/** What a caller says of a type: all of it when it is created, the redirect afterwards. */
public record TypeDefinition(
    String name,
    Prefix prefix,
    KeyScheme keyScheme,
    SnowflakeLayout keyLayout,
    Optional<Redirect> redirect) {
  public TypeDefinition {
    if (!Type.isName(name)) {
      throw new IllegalArgumentException("no type name: " + name);
    }
  }
}
