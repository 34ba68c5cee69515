package dev.coatcheck.ids.registry;

import dev.coatcheck.core.id.Prefix;
import dev.coatcheck.core.key.KeyScheme;
import dev.coatcheck.core.key.SnowflakeLayout;

/** What a caller says of a type: all of it when it is created, the policies afterwards. */
public record TypeDefinition(
    String name, Prefix prefix, KeyScheme keyScheme, SnowflakeLayout keyLayout, Policies policies) {
  public TypeDefinition {
    if (!Type.isName(name)) {
      throw new IllegalArgumentException("no type name: " + name);
    }
  }
}
