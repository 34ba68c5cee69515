package dev.coatcheck.id;

import java.util.regex.Pattern;

/** What keys look like. */
final class KeyText {
  static final Pattern NUMBER = Pattern.compile("0|[1-9][0-9]{0,18}");
  static final Pattern UUID = Pattern.compile("[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}");

  private KeyText() {}
}
