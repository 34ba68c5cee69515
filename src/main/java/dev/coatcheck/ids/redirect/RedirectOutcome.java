package dev.coatcheck.ids.redirect;

/** Where a public ID's redirect leads. */
public sealed interface RedirectOutcome {

  /**
   * To a URL of the type's template.
   *
   * @param maxAgeSeconds how long a cache may keep it
   */
  record To(String location, int status, int maxAgeSeconds) implements RedirectOutcome {}

  /** It is of an older system, and treated as the legacy ID or key that it carries. */
  record Older(LegacyOutcome outcome) implements RedirectOutcome {}

  /** Revoked, of a public redirect: who asks has been given the ID before. */
  record Gone() implements RedirectOutcome {}

  /** Malformed, unknown, without redirect or private: an outsider can't tell which. */
  record NotFound() implements RedirectOutcome {}
}
