package dev.coatcheck.jooq;

import dev.coatcheck.id.Key;
import java.util.UUID;
import org.jooq.Converter;

/**
 * Converters between columns and {@code Key<Charge>}. In the code generator:
 *
 * <pre>{@code
 * <forcedType>
 *   <userType>dev.coatcheck.id.Key<shop.Charge></userType>
 *   <converter>dev.coatcheck.jooq.KeyConverters.bigint(shop.Charge.class)</converter>
 *   <includeExpression>charge\.id|.*\.charge_id</includeExpression>
 * </forcedType>
 * }</pre>
 */
public final class KeyConverters {
  private KeyConverters() {}

  /**
   * For columns of {@code bigint}.
   *
   * @param type the class that the keys belong to
   * @param <T> that class
   * @return a converter that keeps null, and refuses UUIDs and keys of other classes with an {@link
   *     IllegalArgumentException}
   */
  public static <T> Converter<Long, Key<T>> bigint(Class<T> type) {
    return Converter.ofNullable(
        Long.class,
        keyClass(),
        number -> Key.of(type, number),
        key -> {
          if (key.type() == type && key instanceof Key.OfLong<T> number) {
            return number.value();
          }
          throw refused(key, type, "bigint");
        });
  }

  /**
   * For columns of {@code uuid}.
   *
   * @param type the class that the keys belong to
   * @param <T> that class
   * @return a converter that keeps null, and refuses numbers and keys of other classes with an
   *     {@link IllegalArgumentException}
   */
  public static <T> Converter<UUID, Key<T>> uuid(Class<T> type) {
    return Converter.ofNullable(
        UUID.class,
        keyClass(),
        uuid -> Key.of(type, uuid),
        key -> {
          if (key.type() == type && key instanceof Key.OfUuid<T> uuid) {
            return uuid.value();
          }
          throw refused(key, type, "uuid");
        });
  }

  @SuppressWarnings("unchecked") // the class of Key<T>, as generics want it
  private static <T> Class<Key<T>> keyClass() {
    return (Class<Key<T>>) (Class<?>) Key.class;
  }

  private static IllegalArgumentException refused(Key<?> key, Class<?> type, String kind) {
    return new IllegalArgumentException(
        "A "
            + key.getClass().getSimpleName()
            + " of "
            + key.type().getName()
            + " is given for a column of "
            + kind
            + " with keys of "
            + type.getName());
  }
}
