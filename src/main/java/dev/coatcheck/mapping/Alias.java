package dev.coatcheck.mapping;

import dev.coatcheck.registry.Type;

/** Another name of one thing of a type. The bucket follows from the others. */
record Alias(int typeNumber, AliasScheme scheme, String value, int bucket) {

  static Alias of(Type type, AliasScheme scheme, String value) {
    return new Alias(
        type.number(), scheme, value, type.salt().bucketOfAlias(scheme.wireName(), value));
  }
}
