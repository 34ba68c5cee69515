package dev.coatcheck.ids.redirect;

import java.time.Instant;
import java.util.Optional;
import java.util.stream.Stream;

/** The target of a legacy ID. */
public sealed interface LegacyOutcome {

  /**
   * What a client is told about the end of the numbers.
   *
   * @param deprecatedAt since when they are not the way to ask
   * @param sunsetAt from when on they are gone
   */
  record Notice(Optional<Instant> deprecatedAt, Optional<Instant> sunsetAt) {
    public static final Notice NONE = new Notice(Optional.empty(), Optional.empty());

    /**
     * The earlier times of both, for a URL with several numbers: it lasts as long as all of them.
     */
    public Notice and(Notice other) {
      return new Notice(
          earlier(deprecatedAt, other.deprecatedAt), earlier(sunsetAt, other.sunsetAt));
    }

    private static Optional<Instant> earlier(Optional<Instant> one, Optional<Instant> other) {
      return Stream.of(one, other).flatMap(Optional::stream).min(Instant::compareTo);
    }
  }

  /**
   * To a URL.
   *
   * @param target the URL of the type's template; or the public ID, for the place of a number in a
   *     URL
   * @param status 301 or 308
   * @param maxAgeSeconds how long a cache may keep it; never beyond the sunset
   */
  record To(String target, int status, int maxAgeSeconds, Notice notice) implements LegacyOutcome {}

  /** No target. */
  sealed interface Refused extends LegacyOutcome {}

  /** The type's numbers are gone, whether or not this was one; the database was not asked. */
  record Over(Notice notice) implements Refused {}

  /** It stands for a public ID that was revoked. */
  record Gone() implements Refused {}

  /**
   * The visitor goes through the numbers; the database was not asked.
   *
   * @param refusedSeconds how long it gets this answer for any number
   */
  record Scanning(int refusedSeconds) implements Refused {}

  /** Unknown, of a type without such look-ups, or private: an outsider can't tell which. */
  record NotFound() implements Refused {}
}
