package dev.coatcheck.id;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Binds a class to a type of the gateway by the type's prefix.
 *
 * <pre>{@code
 * @PublicIdType(prefix = "ch")
 * public class Charge { … }
 * }</pre>
 *
 * <p>The class may be an entity, a record, or an empty class that exists for its name only. The
 * annotation is not inherited. Two classes may have one prefix; their public IDs are not equal.
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
public @interface PublicIdType {
  /**
   * The prefix of the type: {@code [a-z][a-z0-9]*(_[a-z0-9]+)*}, 1 to 32 characters, without the
   * underscore that ends it in a public ID. The first use of the class fails for another one.
   */
  String prefix();

  /**
   * The name of the type, such as {@code charge}, in lower case with underscores. Mints and
   * look-ups name it; without it, a client asks the gateway for the name of the prefix, once, for
   * which its API key needs the scope {@code types:read}.
   */
  String name() default "";
}
