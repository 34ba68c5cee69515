package dev.coatcheck.ids.access;

import java.util.Optional;

/**
 * A key to be created.
 *
 * @param name 1 to {@value #NAME_LENGTH_MAX} characters, for people; several keys may have it
 * @param principal who the key acts for; empty: a new principal
 */
public record NewKey(String name, Optional<String> principal, Rights rights) {
  public static final int NAME_LENGTH_MAX = 100;

  public NewKey {
    if (!isName(name) || !principal.map(NewKey::isName).orElse(true)) {
      throw new IllegalArgumentException("no name of a key or principal");
    }
  }

  /** The name and an ID; no longer than a name, and without half a surrogate pair. */
  String principalWith(String keyId) {
    String end = "#" + keyId;
    int length = Math.min(name.length(), NAME_LENGTH_MAX - end.length());
    boolean isPairCut =
        length < name.length() && Character.isHighSurrogate(name.charAt(length - 1));
    return name.substring(0, isPairCut ? length - 1 : length) + end;
  }

  /** Whether a text can be the name of a key, or of a principal: Postgres has to take it. */
  public static boolean isName(String text) {
    return !text.isBlank()
        && text.length() <= NAME_LENGTH_MAX
        && text.codePoints().noneMatch(c -> c == 0 || (c >= 0xD800 && c <= 0xDFFF));
  }
}
