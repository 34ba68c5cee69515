package dev.coatcheck.client;

/** What became of one URL of a batch. */
public sealed interface UrlResult {
  /**
   * All IDs of the URL were resolved.
   *
   * @param url the URL with keys
   */
  record Resolved(ResolvedUrl url) implements UrlResult {}

  /**
   * An ID of the URL is malformed, unknown or ended, or the URL is refused.
   *
   * @param problem with the code of the first such ID
   */
  record Refused(Problem problem) implements UrlResult {}
}
