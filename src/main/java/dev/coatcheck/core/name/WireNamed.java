package dev.coatcheck.core.name;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;

/**
 * An enum whose constants are called in requests, answers and tables as in the code, but in lower
 * case.
 */
public interface WireNamed {
  /** As the code calls it. */
  String name();

  /** As it stands in requests, answers and tables. */
  default String wireName() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** The constant of a kind that has exactly this wire name. */
  static <E extends Enum<E> & WireNamed> Optional<E> find(Class<E> kind, String wireName) {
    return Arrays.stream(kind.getEnumConstants())
        .filter(each -> each.wireName().equals(wireName))
        .findFirst();
  }
}
