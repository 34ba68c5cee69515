package dev.coatcheck.ids.registry;

import java.util.Optional;
import java.util.regex.Pattern;

/**
 * What an alias is unique in, beside its type and scheme. Tagged, so that no caller can name a
 * namespace like a principal.
 *
 * @param stored {@code n:<text>} for one that callers name, {@code p:<principal>}, or empty
 */
public record Namespace(String stored) {
  /** Shared by all callers: of legacy IDs, of older public IDs, and of types that say so. */
  public static final Namespace SHARED = new Namespace("");

  private static final Pattern NAME = Pattern.compile("[!-~]{1,64}");
  private static final String NAMED = "n:";
  private static final String PRINCIPAL = "p:";

  /** One that callers name; empty unless the text is 1 to 64 visible ASCII characters. */
  public static Optional<Namespace> named(String text) {
    return NAME.matcher(text).matches()
        ? Optional.of(new Namespace(NAMED + text))
        : Optional.empty();
  }

  /** A caller's own namespace. */
  public static Namespace ofPrincipal(String principal) {
    return new Namespace(PRINCIPAL + principal);
  }

  /** The namespace of a call that names none; empty if it must name one. */
  public static Optional<Namespace> unnamed(ClientNames policy, String principal) {
    return switch (policy) {
      case REQUIRED -> Optional.empty();
      case PRINCIPAL -> Optional.of(ofPrincipal(principal));
      case SHARED -> Optional.of(SHARED);
    };
  }

  /** The text that callers name it by, if it is one that they name. */
  public Optional<String> name() {
    return after(NAMED);
  }

  /** The principal, if the namespace is a caller's own. */
  public Optional<String> principal() {
    return after(PRINCIPAL);
  }

  private Optional<String> after(String tag) {
    return stored.startsWith(tag) ? Optional.of(stored.substring(tag.length())) : Optional.empty();
  }
}
