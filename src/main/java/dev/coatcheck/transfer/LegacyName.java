package dev.coatcheck.transfer;

import dev.coatcheck.mapping.AliasScheme;
import dev.coatcheck.registry.Type;

/** A legacy ID of a type. The bucket follows from the others. */
record LegacyName(int typeNumber, String value, int bucket) {
  static LegacyName of(Type type, String value) {
    return new LegacyName(
        type.number(), value, type.salt().bucketOfAlias(AliasScheme.LEGACY.wireName(), value));
  }
}
