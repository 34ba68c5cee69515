package dev.coatcheck.ids.redirect;

import dev.coatcheck.ids.registry.DeadLink;
import dev.coatcheck.ids.registry.LegacyPolicy;
import java.time.Instant;
import java.util.Optional;
import java.util.stream.Stream;

/** Where the link with a public ID or a legacy ID leads, or why it has no target. */
public sealed interface RedirectOutcome {

  /**
   * What a client is told about the end of legacy IDs.
   *
   * @param deprecatedAt since when they are deprecated
   * @param sunsetAt from when on they answer 410
   * @param sunsetLink a page about it
   */
  record Notice(
      Optional<Instant> deprecatedAt, Optional<Instant> sunsetAt, Optional<String> sunsetLink) {
    public static final Notice NONE =
        new Notice(Optional.empty(), Optional.empty(), Optional.empty());

    static Notice of(LegacyPolicy policy) {
      return new Notice(policy.deprecatedAt(), policy.sunsetAt(), policy.sunsetLink());
    }

    /**
     * The earlier times of both, for a URL with several legacy IDs: it works as long as all of them
     * do. The link is the first one.
     */
    public Notice and(Notice other) {
      return new Notice(
          earlier(deprecatedAt, other.deprecatedAt),
          earlier(sunsetAt, other.sunsetAt),
          sunsetLink.or(other::sunsetLink));
    }

    private static Optional<Instant> earlier(Optional<Instant> one, Optional<Instant> other) {
      return Stream.of(one, other).flatMap(Optional::stream).min(Instant::compareTo);
    }
  }

  /**
   * To a URL.
   *
   * @param target the URL of the type's template; or the public ID, for the place of a legacy ID in
   *     a URL
   * @param maxAgeSeconds how long a cache may keep it; never beyond the sunset, never into a
   *     brownout
   * @param notice of a legacy ID only
   */
  record To(String target, int status, int maxAgeSeconds, Optional<Notice> notice)
      implements RedirectOutcome {}

  /** No target. */
  sealed interface Refused extends RedirectOutcome
      permits Over, Gone, Scanning, NotFound, LegacyPaused {}

  /**
   * The sunset of the type's legacy IDs has passed, whether or not this was one. The database was
   * not asked.
   */
  record Over(Notice notice, DeadLink deadLink) implements Refused {}

  /** Revoked, of a type with public links. That it existed is no secret: it was given out. */
  record Gone(DeadLink deadLink) implements Refused {}

  /**
   * The visitor is scanning numbers. The database was not asked.
   *
   * @param refusedSeconds how long it gets this answer for any number
   */
  record Scanning(int refusedSeconds) implements Refused {}

  /** Malformed, unknown, without a target or private: an outsider can't tell which. */
  record NotFound() implements Refused {}
}
