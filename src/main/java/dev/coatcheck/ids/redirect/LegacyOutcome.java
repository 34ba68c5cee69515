package dev.coatcheck.ids.redirect;

import java.time.Instant;
import java.util.Optional;

/** The target of a legacy ID. */
public sealed interface LegacyOutcome {

  /**
   * What a client is told about the end of the numbers.
   *
   * @param deprecatedAt since when they are not the way to ask
   * @param sunsetAt from when on they are gone
   */
  record Notice(Optional<Instant> deprecatedAt, Optional<Instant> sunsetAt) {}

  /**
   * To a URL of the type's template.
   *
   * @param status 301 or 308
   * @param maxAgeSeconds how long a cache may keep it; never beyond the sunset
   */
  record To(String location, int status, int maxAgeSeconds, Notice notice)
      implements LegacyOutcome {}

  /** The type's numbers are gone, whether or not this was one; the database was not asked. */
  record Over(Notice notice) implements LegacyOutcome {}

  /** It stands for a public ID that was revoked. */
  record Gone() implements LegacyOutcome {}

  /**
   * The visitor goes through the numbers; the database was not asked.
   *
   * @param refusedSeconds how long it gets this answer for any number
   */
  record Scanning(int refusedSeconds) implements LegacyOutcome {}

  /** Unknown, of a type without such look-ups, or private: an outsider can't tell which. */
  record NotFound() implements LegacyOutcome {}
}
