package dev.coatcheck.ids.url;

import dev.coatcheck.core.id.Base62;
import dev.coatcheck.core.id.ParsedId;
import dev.coatcheck.core.id.Prefix;
import dev.coatcheck.core.id.PublicId;
import dev.coatcheck.ids.registry.Registry;
import java.util.Optional;

/**
 * Whether a text in a URL is to be taken for a public ID of ours: the prefix of a type, an
 * underscore, 24 letters and digits.
 */
final class IdShape {
  private static final int BODY_LENGTH = 24;

  private IdShape() {}

  /** A prefix that isn't known yet is asked for; another instance may have added the type. */
  static boolean isOurs(String text, Registry registry) {
    Optional<Prefix> prefix = prefix(text);
    return prefix.filter(registry::knows).isPresent()
        // Only a text with the right check characters is worth a query.
        || (prefix.isPresent()
            && PublicId.parse(text) instanceof ParsedId.Valid
            && registry.withPrefix(prefix.get()).isPresent());
  }

  private static Optional<Prefix> prefix(String text) {
    int underscore = text.length() - BODY_LENGTH - 1;
    if (underscore < 1 || text.charAt(underscore) != '_') {
      return Optional.empty();
    }
    for (int i = underscore + 1; i < text.length(); i++) {
      if (!Base62.isBase62(text.charAt(i))) {
        return Optional.empty();
      }
    }
    return Prefix.parse(text.substring(0, underscore));
  }
}
