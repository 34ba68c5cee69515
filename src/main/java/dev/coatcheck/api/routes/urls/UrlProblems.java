package dev.coatcheck.api.routes.urls;

import dev.coatcheck.api.exchange.Problem;
import dev.coatcheck.api.exchange.ProblemCode;
import dev.coatcheck.api.routes.IdProblems;
import dev.coatcheck.ids.mapping.ResolveOutcome;
import dev.coatcheck.ids.url.UrlOutcome;

/** The problems of URLs that can't be resolved or published. */
final class UrlProblems {
  private UrlProblems() {}

  static Problem of(String param, UrlOutcome.Refused refused) {
    return switch (refused) {
      case UrlOutcome.Invalid(String why) -> invalid(param, why);
      case UrlOutcome.Malformed malformed ->
          IdProblems.malformed(param, malformed.reason(), malformed.position());
      case UrlOutcome.Revoked(ResolveOutcome.Revoked revoked) -> IdProblems.revoked(param, revoked);
      case UrlOutcome.Unknown _ -> IdProblems.unknown(param);
    };
  }

  static Problem invalid(String param, String why) {
    return Problem.at(ProblemCode.URL_INVALID, param, "The URL " + why + ".");
  }
}
