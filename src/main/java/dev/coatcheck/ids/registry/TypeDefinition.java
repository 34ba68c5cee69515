package dev.coatcheck.ids.registry;

import dev.coatcheck.core.id.Prefix;
import dev.coatcheck.core.key.KeyGeneration;
import dev.coatcheck.core.key.KeyKind;
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
    KeyKind keyKind,
    KeyGeneration generation,
    Policies policies,
    Optional<ClientNames> clientNames) {
  public TypeDefinition {
    if (!Type.isName(name)) {
      throw new IllegalArgumentException("no type name: " + name);
    }
    if (!generation.fits(keyKind)) {
      throw new IllegalArgumentException(keyKind + " keys from " + generation);
    }
  }

  /** Generates the usual keys, and says nothing of client IDs. */
  public TypeDefinition(String name, Prefix prefix, KeyKind keyKind, Policies policies) {
    this(name, prefix, keyKind, KeyGeneration.usual(keyKind), policies, Optional.empty());
  }
}
