package dev.coatcheck.core.name;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * An enum whose constants are called in requests, answers and tables as in the code, but in lower
 * case.
 */
public interface WireNamed {
  int ordinal();

  Class<?> getDeclaringClass();

  /** As it stands in requests, answers and tables. */
  default String wireName() {
    return Names.OF_KIND.get(getDeclaringClass()).inOrder().get(ordinal());
  }

  /** The constant of a kind that has exactly this wire name. */
  static <E extends Enum<E> & WireNamed> Optional<E> find(Class<E> kind, String wireName) {
    return Optional.ofNullable(Names.OF_KIND.get(kind).constants().get(wireName)).map(kind::cast);
  }

  /** The names of a kind, made once: each of a million rows asks for several. */
  record Names(List<String> inOrder, Map<String, Object> constants) {
    private static final ClassValue<Names> OF_KIND =
        new ClassValue<>() {
          @Override
          protected Names computeValue(Class<?> kind) {
            Map<String, Object> constants = new LinkedHashMap<>();
            for (Object each : kind.getEnumConstants()) {
              constants.put(((Enum<?>) each).name().toLowerCase(Locale.ROOT), each);
            }
            return new Names(List.copyOf(constants.keySet()), constants);
          }
        };
  }
}
