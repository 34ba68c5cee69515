package dev.coatcheck.core.key;

/** The result of reading a layout's name or spelling. */
public sealed interface LayoutParse {
  record Known(SnowflakeLayout layout) implements LayoutParse {}

  record Invalid(String reason) implements LayoutParse {}
}
