package dev.coatcheck.id;

import dev.coatcheck.core.id.Prefix;

/** The prefix of each class, read from its annotation once. */
final class TypePrefix extends ClassValue<String> {
  private static final TypePrefix PREFIXES = new TypePrefix();

  static String of(Class<?> type) {
    return PREFIXES.get(type);
  }

  @Override
  protected String computeValue(Class<?> type) {
    PublicIdType annotation = type.getAnnotation(PublicIdType.class);
    if (annotation == null) {
      throw new IllegalArgumentException(
          type.getName() + " has no prefix. Annotate it with @PublicIdType(prefix = …).");
    }
    if (!Prefix.isValid(annotation.prefix())) {
      throw new IllegalArgumentException(
          "\""
              + annotation.prefix()
              + "\" of "
              + type.getName()
              + " is not a prefix. Write 1 to 32 of a-z, 0-9 and single underscores between them,"
              + " starting with a letter.");
    }
    return annotation.prefix();
  }
}
