package dev.coatcheck.registry;

import dev.coatcheck.id.Prefix;
import dev.coatcheck.key.KeyScheme;
import dev.coatcheck.key.SnowflakeLayout;

/** What a caller says of a type: all of it when it is created, the policies afterwards. */
public record TypeDefinition(
    String name, Prefix prefix, KeyScheme keyScheme, SnowflakeLayout keyLayout, Policies policies) {
  public TypeDefinition {
    if (!Type.isName(name)) {
      throw new IllegalArgumentException("no type name: " + name);
    }
  }
}
