package dev.coatcheck.ids.alias;

import dev.coatcheck.ids.registry.Namespace;
import dev.coatcheck.ids.registry.Type;
import java.util.Comparator;

/**
 * Another name of one public ID of a type.
 *
 * @param namespace where it is unique; {@link Namespace#SHARED} but for client IDs
 * @param value in its one spelling
 * @param bucket follows from the type, the scheme and the value
 */
public record Alias(
    int typeNumber, AliasScheme scheme, Namespace namespace, String value, int bucket)
    implements Comparable<Alias> {
  /** One order for everyone, so that two transactions can't wait for each other. */
  public static final Comparator<Alias> LOCK_ORDER =
      Comparator.comparingInt(Alias::bucket)
          .thenComparingInt(Alias::typeNumber)
          .thenComparing(Alias::scheme)
          .thenComparing(Alias::value)
          .thenComparing(alias -> alias.namespace().stored());

  /** By which a map finds aliases of one hash: clients may choose the texts. */
  @Override
  public int compareTo(Alias other) {
    return LOCK_ORDER.compare(this, other);
  }

  /**
   * Makes an alias of the type, in a scheme whose aliases all callers share.
   *
   * @throws IllegalArgumentException for a value that the scheme doesn't have: callers check theirs
   */
  public static Alias of(Type type, AliasScheme scheme, String value) {
    if (scheme == AliasScheme.CLIENT) {
      throw new IllegalArgumentException("a client ID without a namespace");
    }
    return of(type, scheme, Namespace.SHARED, value);
  }

  /**
   * Makes an alias of the type from a client ID.
   *
   * @param clientId a UUID in either case
   * @throws IllegalArgumentException if it is no UUID
   */
  public static Alias client(Type type, Namespace namespace, String clientId) {
    return of(type, AliasScheme.CLIENT, namespace, clientId);
  }

  private static Alias of(Type type, AliasScheme scheme, Namespace namespace, String text) {
    if (!scheme.accepts(text)) {
      throw new IllegalArgumentException("no " + scheme.wireName() + " alias: " + text);
    }
    String value = scheme.folded(text);
    return new Alias(
        type.number(),
        scheme,
        namespace,
        value,
        type.salt().bucketOfAlias(scheme.wireName(), value));
  }
}
