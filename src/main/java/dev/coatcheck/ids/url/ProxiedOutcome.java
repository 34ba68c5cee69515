package dev.coatcheck.ids.url;

import dev.coatcheck.ids.redirect.RedirectOutcome;

/** What a proxy is to do with the request of a client that has no API key. */
public sealed interface ProxiedOutcome {

  /**
   * Pass it on.
   *
   * @param notice what to tell the client about the legacy IDs of the URI
   */
  record PassOn(UrlOutcome.Resolved resolved, RedirectOutcome.Notice notice)
      implements ProxiedOutcome {}

  /**
   * Send the client to the URI with public IDs.
   *
   * @param location path and query
   * @param maxAgeSeconds how long a cache may keep it; never beyond a sunset, never into a brownout
   */
  record Redirect(String location, int maxAgeSeconds, RedirectOutcome.Notice notice)
      implements ProxiedOutcome {}

  /** Refuse it: an ID in the URI can't be resolved, or the URI can't be read. */
  record Refused(UrlOutcome.Refused outcome) implements ProxiedOutcome {}

  /** Refuse it, as a redirect of one of its legacy IDs would be refused. */
  record LegacyRefused(RedirectOutcome.Refused outcome) implements ProxiedOutcome {}

  /** Refuse it: a segment of the path is a bare key, and the proxy allows none. */
  record BareKey() implements ProxiedOutcome {}
}
