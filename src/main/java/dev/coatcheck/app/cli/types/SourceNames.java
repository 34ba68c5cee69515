package dev.coatcheck.app.cli.types;

import dev.coatcheck.app.client.Misused;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/** What types are called in source text, where names are written without underscores. */
final class SourceNames {
  private SourceNames() {}

  /** {@code LineItem} for {@code line_item}. */
  static String pascal(String name) {
    StringBuilder pascal = new StringBuilder();
    for (String word : name.split("_", -1)) {
      if (!word.isEmpty()) {
        pascal.append(Character.toUpperCase(word.charAt(0))).append(word.substring(1));
      }
    }
    return pascal.toString();
  }

  /** {@code lineItem} for {@code line_item}. */
  static String camel(String name) {
    String pascal = pascal(name);
    return Character.toLowerCase(pascal.charAt(0)) + pascal.substring(1);
  }

  /**
   * Refuses two types with one name in the source text, which tools that ignore case would confuse
   * too.
   *
   * @param taken names that mean something else there
   */
  static void requireDistinct(TypesFile file, Set<String> taken) throws Misused {
    Map<String, String> types = new HashMap<>();
    for (TypesFile.Declared type : file.types()) {
      String name = pascal(type.name());
      String other = types.put(name, type.name());
      if (other != null) {
        throw new Misused(
            "the types " + other + " and " + type.name() + " would both be called " + name + ".");
      }
      if (taken.contains(name)) {
        throw new Misused(
            "the type %s would be called %s, which means something else."
                .formatted(type.name(), name));
      }
    }
  }
}
