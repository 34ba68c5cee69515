package dev.coatcheck.ids.pattern;

import java.util.regex.Pattern;

/**
 * What some program reads as a UUID: 32 hexadecimal digits with hyphens anywhere, or five groups of
 * them, which Java fills with zeros at their left; in braces or parentheses, or as a URN.
 */
public final class LooseUuid {
  private static final Pattern UUID =
      Pattern.compile(
          "(?:urn:)?(?:uuid:)?[{(]*(?:(?:%1$s-*){32}|%1$s+(?:-%1$s+){4})[)}]*"
              .formatted(LooseNumber.HEX),
          Pattern.CASE_INSENSITIVE);

  private LooseUuid() {}

  public static boolean is(String text) {
    return UUID.matcher(LooseNumber.withoutBlanks(text)).matches();
  }
}
