package dev.coatcheck.ids.registry;

import dev.coatcheck.core.id.Prefix;
import dev.coatcheck.core.key.KeyScheme;
import dev.coatcheck.core.key.SnowflakeLayout;
import java.util.Optional;

/**
 * What a caller says of a type: all of it when it is created, the policies and the rule of client
 * IDs afterwards.
 *
 * @param clientNames empty to leave a type's rule as it is, and to give a new type the default:
 *     under another rule the client IDs that a type has are not found again
 */
public record TypeDefinition(
    String name,
    Prefix prefix,
    KeyScheme keyScheme,
    SnowflakeLayout keyLayout,
    Policies policies,
    Optional<ClientNames> clientNames) {
  public TypeDefinition {
    if (!Type.isName(name)) {
      throw new IllegalArgumentException("no type name: " + name);
    }
  }

  /** Says nothing of client IDs. */
  public TypeDefinition(
      String name,
      Prefix prefix,
      KeyScheme keyScheme,
      SnowflakeLayout keyLayout,
      Policies policies) {
    this(name, prefix, keyScheme, keyLayout, policies, Optional.empty());
  }
}
