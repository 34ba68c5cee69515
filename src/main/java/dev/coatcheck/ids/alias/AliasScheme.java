package dev.coatcheck.ids.alias;

import dev.coatcheck.core.name.WireNamed;
import dev.coatcheck.ids.registry.LegacyNumber;
import java.util.Locale;
import java.util.regex.Pattern;

/** The origin of an alias. */
public enum AliasScheme implements WireNamed {
  /** The auto-increment number that it had before: a decimal from 1 to 2^63 − 1. */
  LEGACY("[1-9][0-9]{0,18}"),
  /** A UUID that a client made while it was offline: 36 characters, in either case. */
  CLIENT("[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"),
  /** A public ID of an older system: 1 to 255 visible ASCII characters. */
  PUBLIC("[!-~]{1,255}");

  private final Pattern shape;

  AliasScheme(String shape) {
    this.shape = Pattern.compile(shape);
  }

  /** Whether the text is a value; nothing is trimmed. */
  public boolean accepts(String value) {
    return this == LEGACY ? LegacyNumber.parse(value).isPresent() : shape.matcher(value).matches();
  }

  /** The one spelling of an accepted value: some phones write UUIDs in upper case. */
  String folded(String value) {
    return this == CLIENT ? value.toLowerCase(Locale.ROOT) : value;
  }
}
