package dev.coatcheck.ids.url;

/** What a text that should be a URL turned out to be. */
sealed interface ParsedUrl {
  record Valid(UrlParts parts) implements ParsedUrl {}

  /**
   * Refused, because two programs in a row could read it in two ways.
   *
   * @param why ends the sentence "The URL …"; a fixed text
   */
  record Invalid(String why) implements ParsedUrl {}
}
