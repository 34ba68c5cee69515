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
enum IdShape {
  OURS,
  FOREIGN,
  /** Sound, with a prefix that this instance doesn't know; another may have added the type. */
  UNDECIDED;

  private static final int BODY_LENGTH = 24;

  /** Never waits. */
  static IdShape of(String text, Registry registry) {
    Optional<Prefix> prefix = prefix(text);
    if (prefix.isEmpty()) {
      return FOREIGN;
    }
    if (registry.withPrefixIfCached(prefix.get()).isPresent()) {
      return OURS;
    }
    // Only what has the right check characters is worth a query.
    return PublicId.parse(text) instanceof ParsedId.Valid ? UNDECIDED : FOREIGN;
  }

  /** As {@link #of}, but asks for a prefix that isn't known yet. */
  static boolean isOurs(String text, Registry registry) {
    return switch (of(text, registry)) {
      case OURS -> true;
      case FOREIGN -> false;
      case UNDECIDED -> prefix(text).flatMap(registry::withPrefix).isPresent();
    };
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
