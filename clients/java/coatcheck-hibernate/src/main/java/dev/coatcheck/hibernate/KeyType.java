package dev.coatcheck.hibernate;

import dev.coatcheck.id.Key;
import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.hibernate.annotations.Parameter;
import org.hibernate.annotations.Type;

/**
 * Maps an attribute {@code Key<Charge>} to a column of {@code bigint} or {@code uuid}.
 *
 * <pre>{@code
 * @Id @KeyType private Key<Charge> id;
 * @KeyType(KeyType.Kind.UUID) private Key<User> payer;
 * }</pre>
 *
 * <p>The attribute may be the identifier, which the application assigns, or any other. Its type
 * must name the class of the key; a raw {@code Key} or {@code Key<?>} stops the start.
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.FIELD, ElementType.METHOD})
// With a parameter, each attribute has a KeyUserType to itself where containers make them.
@Type(value = KeyUserType.class, parameters = @Parameter(name = "of", value = "attribute"))
public @interface KeyType {
  /**
   * The type of the column.
   *
   * @return the kind of keys
   */
  Kind value() default Kind.BIGINT;

  /** The kinds of {@link Key}. */
  enum Kind {
    /** A number, {@link Key.OfLong}. */
    BIGINT,
    /** A UUID, {@link Key.OfUuid}. */
    UUID
  }
}
