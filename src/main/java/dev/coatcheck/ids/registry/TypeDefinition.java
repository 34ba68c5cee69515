package dev.coatcheck.ids.registry;

import dev.coatcheck.core.id.Prefix;
import dev.coatcheck.core.key.KeyGeneration;
import dev.coatcheck.core.key.KeyKind;
import java.time.Instant;
import java.util.Optional;

/**
 * What a caller declares about a type. After its creation only the policies, the scope of client
 * IDs and the retirement may change.
 *
 * @param clientNames empty keeps the present scope, or means the default for a new type. Under
 *     another scope the client IDs that a type has are not found
 * @param sealed empty keeps what the type has, or means a row for each public ID of a new type
 * @param retired whether nothing mints its public IDs
 */
public record TypeDefinition(
    String name,
    Prefix prefix,
    KeyKind keyKind,
    KeyGeneration generation,
    Policies policies,
    Optional<ClientNames> clientNames,
    Optional<SealedFrom> sealed,
    boolean retired) {
  public TypeDefinition {
    if (!Type.isName(name)) {
      throw new IllegalArgumentException("no type name: " + name);
    }
    if (!generation.fits(keyKind)) {
      throw new IllegalArgumentException(keyKind + " keys from " + generation);
    }
  }

  /**
   * From when on keys are sealed.
   *
   * @param sealKey the fingerprint of the seal key of the first era
   */
  public record SealedFrom(Instant from, String sealKey) {}
}
