package dev.coatcheck.ids.access;

import dev.coatcheck.ids.registry.Type;
import java.util.Optional;
import java.util.Set;

/**
 * The types that a caller may use. Whatever parses the name of a type or a public ID takes them, so
 * that no call passes over them.
 *
 * @param names empty: all types, later ones too
 */
public record AllowedTypes(Optional<Set<String>> names) {
  /** For callers whose API key has no list of types, and for what is public. */
  public static final AllowedTypes ALL = new AllowedTypes(Optional.empty());

  public AllowedTypes {
    names = names.map(Set::copyOf);
  }

  public boolean areAll() {
    return names.isEmpty();
  }

  /**
   * Whether the caller may use the type with this name.
   *
   * @param name of a type that exists or doesn't
   */
  public boolean hold(String name) {
    return names.isEmpty() || names.get().contains(name);
  }

  public boolean hold(Type type) {
    return hold(type.name());
  }
}
