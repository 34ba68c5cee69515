package dev.coatcheck.core.key;

/** The result of parsing the name or the spelling of a layout. */
public sealed interface LayoutParse {
  record Known(SnowflakeLayout layout) implements LayoutParse {}

  record Invalid(String reason) implements LayoutParse {}
}
