package dev.coatcheck.ids.alias;

import dev.coatcheck.ids.registry.Namespace;
import dev.coatcheck.ids.registry.Salt;
import dev.coatcheck.ids.registry.Type;
import java.util.Comparator;
import java.util.UUID;

/**
 * Another name of one public ID of a type. Immutable. The bucket follows from the rest and is made
 * when it is first asked for: it costs a SHA-256, and a look-up in memory needs none.
 */
public final class Alias implements Comparable<Alias> {
  private static final int NO_BUCKET = -1;

  /**
   * One order of locks for everyone, so that two transactions can't wait for each other; by which a
   * map finds aliases of one hash, too: clients may choose the texts.
   */
  private static final Comparator<Alias> ORDER =
      Comparator.comparingInt(Alias::bucket)
          .thenComparingInt(Alias::typeNumber)
          .thenComparing(Alias::scheme)
          .thenComparing(Alias::value)
          .thenComparing(alias -> alias.namespace().stored());

  private final int typeNumber;
  private final Salt salt;
  private final AliasScheme scheme;
  private final Namespace namespace;
  private final String value;

  /** Threads that make it at the same time make the same. */
  private int bucket = NO_BUCKET;

  private Alias(Type type, AliasScheme scheme, Namespace namespace, String value) {
    this.typeNumber = type.number();
    this.salt = type.salt();
    this.scheme = scheme;
    this.namespace = namespace;
    this.value = value;
  }

  @Override
  public int compareTo(Alias other) {
    return ORDER.compare(this, other);
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
    return new Alias(type, scheme, namespace, scheme.folded(text));
  }

  public int typeNumber() {
    return typeNumber;
  }

  public AliasScheme scheme() {
    return scheme;
  }

  /** Where it is unique; {@link Namespace#SHARED} but for client IDs. */
  public Namespace namespace() {
    return namespace;
  }

  /** In its one spelling. */
  public String value() {
    return value;
  }

  /** Where its row lies, 0 to 1023. */
  public int bucket() {
    int made = bucket;
    if (made == NO_BUCKET) {
      made = salt.bucketOfAlias(scheme.wireName(), value);
      bucket = made;
    }
    return made;
  }

  /** What is left of it once its public ID is erased. */
  UUID hash() {
    return salt.hashOfAlias(scheme.wireName(), value, namespace.stored());
  }

  /** How the change feed names it. */
  public String subjectOfChange() {
    return typeNumber + " " + scheme.wireName() + " " + namespace.stored() + " " + value;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Alias that
        && typeNumber == that.typeNumber
        && scheme == that.scheme
        && value.equals(that.value)
        && namespace.equals(that.namespace);
  }

  @Override
  public int hashCode() {
    return 31 * (31 * value.hashCode() + namespace.hashCode()) + typeNumber;
  }

  @Override
  public String toString() {
    return scheme.wireName() + " " + value + " of type " + typeNumber;
  }
}
