package dev.coatcheck.ids.registry;

import java.util.Optional;
import java.util.regex.Pattern;

/**
 * The scope within which an alias is unique, besides its type and scheme. Tagged, so that no caller
 * can choose a namespace that equals a principal.
 *
 * @param stored {@code n:<text>} for one that callers name, {@code p:<principal>}, or empty
 */
public record Namespace(String stored) {
  /**
   * Shared by all callers: for legacy IDs, older public IDs, and types whose client IDs are shared.
   */
  public static final Namespace SHARED = new Namespace("");

  private static final Pattern NAME = Pattern.compile("[!-~]{1,64}");
  private static final String NAMED = "n:";
  private static final String PRINCIPAL = "p:";

  /** A namespace that a caller chose; empty unless the text is 1 to 64 visible ASCII characters. */
  public static Optional<Namespace> named(String text) {
    return NAME.matcher(text).matches()
        ? Optional.of(new Namespace(NAMED + text))
        : Optional.empty();
  }

  /** A caller's own namespace. */
  public static Namespace ofPrincipal(String principal) {
    return new Namespace(PRINCIPAL + principal);
  }

  /** The namespace of a call that gives none; empty if it must give one. */
  public static Optional<Namespace> unnamed(ClientNames policy, String principal) {
    return switch (policy) {
      case REQUIRED -> Optional.empty();
      case PRINCIPAL -> Optional.of(ofPrincipal(principal));
      case SHARED -> Optional.of(SHARED);
    };
  }

  /** The caller's text, if a caller chose the namespace. */
  public Optional<String> name() {
    return after(NAMED);
  }

  /** The principal, if the namespace is a caller's own. */
  public Optional<String> principal() {
    return after(PRINCIPAL);
  }

  /** What it is: {@code named}, {@code principal} or {@code shared}. */
  public String kind() {
    return name().isPresent() ? "named" : principal().isPresent() ? "principal" : "shared";
  }

  private Optional<String> after(String tag) {
    return stored.startsWith(tag) ? Optional.of(stored.substring(tag.length())) : Optional.empty();
  }
}
