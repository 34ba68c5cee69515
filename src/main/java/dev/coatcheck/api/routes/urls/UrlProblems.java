package dev.coatcheck.api.routes.urls;

import dev.coatcheck.api.exchange.Problem;
import dev.coatcheck.api.exchange.ProblemCode;
import dev.coatcheck.api.routes.IdProblems;
import dev.coatcheck.api.routes.Parameters;
import dev.coatcheck.ids.mapping.ResolveOutcome;
import dev.coatcheck.ids.redirect.LegacyPaused;
import dev.coatcheck.ids.url.UrlOutcome;

/**
 * The problems of URLs that can't be resolved or published, and of links that anyone may follow. A
 * link whose ID is unknown, private or malformed gets one and the same answer, so that an outsider
 * can't tell which it is.
 */
final class UrlProblems {
  private UrlProblems() {}

  static Problem of(String param, UrlOutcome.Refused refused) {
    return switch (refused) {
      case UrlOutcome.Invalid(String why) -> invalid(param, why);
      case UrlOutcome.Malformed malformed ->
          IdProblems.malformed(param, malformed.reason(), malformed.position());
      case UrlOutcome.Revoked(ResolveOutcome.Revoked revoked) -> IdProblems.revoked(param, revoked);
      case UrlOutcome.NotAllowed _ -> Problem.typeNotAllowed();
      case UrlOutcome.Erased _ -> Problem.erased(param);
      case UrlOutcome.Unknown _ -> IdProblems.unknown(param);
      case UrlOutcome.LegacyMalformed _ -> Parameters.legacyMalformed(param);
      case UrlOutcome.LegacyUnknown _ -> legacyUnknown(param);
      case UrlOutcome.LegacyBrownout(LegacyPaused paused) -> IdProblems.legacyPaused(paused);
    };
  }

  static Problem legacyUnknown(String param) {
    return Problem.at(
        ProblemCode.LEGACY_ID_UNKNOWN, param, "No public ID of this type has this legacy ID.");
  }

  static Problem notFound() {
    return Problem.of(ProblemCode.NOT_FOUND, "No page is behind this link.");
  }

  /** The public ID was revoked: a visitor who has it was once given it. */
  static Problem gone() {
    return Problem.of(ProblemCode.PUBLIC_ID_REVOKED, "The page behind this link is gone.");
  }

  static Problem invalid(String param, String why) {
    return Problem.at(ProblemCode.URL_INVALID, param, "The URL " + why + ".");
  }
}
