package dev.coatcheck.spring;

import dev.coatcheck.id.Key;
import dev.coatcheck.id.PublicId;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.core.convert.TypeDescriptor;
import org.springframework.core.convert.converter.GenericConverter;

/**
 * Reads {@code PublicId<Charge>}, and {@code Key<Charge>} with a call of the gateway, from path
 * variables, request parameters and headers; writes public IDs as text.
 */
final class PublicIdConverter implements GenericConverter {
  private final @Nullable PublicIds ids;

  /**
   * A converter.
   *
   * @param ids resolves, or null where there is no gateway: then keys are refused
   */
  PublicIdConverter(@Nullable PublicIds ids) {
    this.ids = ids;
  }

  @Override
  public Set<ConvertiblePair> getConvertibleTypes() {
    return Set.of(
        new ConvertiblePair(String.class, PublicId.class),
        new ConvertiblePair(String.class, Key.class),
        new ConvertiblePair(PublicId.class, String.class));
  }

  @Override
  public @Nullable Object convert(
      @Nullable Object source, TypeDescriptor sourceType, TypeDescriptor targetType) {
    if (source == null) {
      return null;
    }
    if (targetType.getType() == String.class) {
      return source.toString();
    }
    String text = (String) source;
    Class<?> type = argument(targetType);
    return targetType.getType() == PublicId.class ? PublicId.of(type, text) : key(type, text);
  }

  private <T> Key<T> key(Class<T> type, String text) {
    if (ids == null) {
      throw new IllegalStateException("Set coatcheck.url, or keys can't be resolved.");
    }
    return ids.key(type, text);
  }

  private static Class<?> argument(TypeDescriptor target) {
    Class<?> type = target.getResolvableType().getGeneric(0).resolve();
    if (type == null || type == Object.class) {
      throw new IllegalStateException(
          target.getType().getSimpleName() + " needs its type here, as in PublicId<Charge>.");
    }
    return type;
  }
}
