package dev.coatcheck.ids.mapping;

import dev.coatcheck.ids.registry.Type;
import java.util.Comparator;

/**
 * Another name of one thing of a type.
 *
 * @param bucket follows from the others
 */
public record Alias(int typeNumber, AliasScheme scheme, String value, int bucket) {
  /** One order for everyone, so that two transactions can't wait for each other. */
  public static final Comparator<Alias> LOCK_ORDER =
      Comparator.comparingInt(Alias::bucket)
          .thenComparingInt(Alias::typeNumber)
          .thenComparing(Alias::scheme)
          .thenComparing(Alias::value);

  /**
   * Names a thing of the type.
   *
   * @throws IllegalArgumentException for a value that the scheme doesn't have: callers check theirs
   */
  public static Alias of(Type type, AliasScheme scheme, String value) {
    if (!scheme.accepts(value)) {
      throw new IllegalArgumentException("no " + scheme.wireName() + " alias: " + value);
    }
    return new Alias(
        type.number(), scheme, value, type.salt().bucketOfAlias(scheme.wireName(), value));
  }
}
